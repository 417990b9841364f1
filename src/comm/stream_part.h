// A rank's part of a collective as work of a virtual GPU's stream.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "comm/call.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"
#include "tensor/tensor.h"

namespace tandem::comm {

/// Queues `run` on the stream: its thread calls it when it gets there, also where earlier work failed, which its argument then tells (else
/// nullptr). What it throws is an error of the stream. `dropped` is called instead where it never gets there.
void queue_part(runtime::Driver& driver, const runtime::StreamRecord& stream, const Call& call, std::span<const Tensor> reads,
                std::span<const Tensor> writes, std::function<void(const std::string*)> run, std::function<void()> dropped);

/// Waits for what is queued on a stream, and tells observers that the host has seen its end. Throws the error its work left.
void drain(const runtime::StreamRecord& stream, Site site);

}  // namespace tandem::comm
