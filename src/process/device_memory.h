// Memory of GPUs in several processes. For the library.
#pragma once

#include "base/ref.h"
#include "process/parcel.h"

namespace tandem::multiprocessing::detail {

/// Puts a GPU's memory into a message, after the calling thread's current stream of that GPU has come to this point. The owner keeps the
/// memory as long as somebody has what it sent: each message carries the end of a pipe, which the system closes with its last holder,
/// however that ends. Error for memory that is not of the library's allocator.
void put_device_memory(Parcel& parcel, const Storage& storage);

/// The other process's memory, opened here. Its last holder here gives it back once the work queued by then on the calling thread's current
/// stream is done. Error where there is no such GPU here, or its owner has ended.
[[nodiscard]] Ref<Storage> take_device_memory(Received& received);

}  // namespace tandem::multiprocessing::detail
