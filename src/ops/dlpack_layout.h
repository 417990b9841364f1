// The structs of DLPack 1.1 as its page lays them out in memory (https://dmlc.github.io/dlpack/latest/c_api.html), under names of our own,
// so that a program may include DLPack's header beside ours.
#pragma once

#include <cstddef>
#include <cstdint>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace tandem::dlpack {

/// The kinds of devices that tandem gives to others and takes from them.
enum DeviceKind : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3 };
/// The kinds of numbers that tandem has.
enum NumberKind : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBoolean = 6 };
/// Bits of `ManagedVersioned::flags`: the consumer must not write; the memory is a copy that the consumer alone has.
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;
/// The version of the layout that tandem writes; it reads all of the same major number.
inline constexpr uint32_t kMajor = 1, kMinor = 1;

/// DLDevice.
struct Device {
  int32_t kind;
  int32_t index;  // 0 for memory of the host
};
/// DLDataType.
struct NumberType {
  uint8_t kind, bits;
  uint16_t lanes;  // numbers in one element
};
/// DLTensor.
struct View {
  void* data;  // nullptr where there are no elements
  Device device;
  int32_t dims;
  NumberType type;
  int64_t* sizes;
  int64_t* strides;      // in elements; nullptr: dense, in row-major order
  uint64_t byte_offset;  // of the first element, from `data` on
};
/// DLManagedTensor.
struct Managed {
  View view;
  void* context;  // the producer's
  void (*deleter)(DLManagedTensor* done);
};
/// DLPackVersion.
struct Version {
  uint32_t major, minor;
};
/// DLManagedTensorVersioned. All up to `flags` stays where it is in later versions.
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(DLManagedTensorVersioned* done);
  uint64_t flags;
  View view;
};

static_assert(sizeof(void*) == 8 && sizeof(Device) == 8 && sizeof(NumberType) == 4 && sizeof(View) == 48);
static_assert(offsetof(View, device) == 8 && offsetof(View, dims) == 16 && offsetof(View, type) == 20);
static_assert(offsetof(View, sizes) == 24 && offsetof(View, strides) == 32 && offsetof(View, byte_offset) == 40);
static_assert(offsetof(Managed, context) == 48 && offsetof(Managed, deleter) == 56 && sizeof(Managed) == 64);
static_assert(offsetof(ManagedVersioned, context) == 8 && offsetof(ManagedVersioned, deleter) == 16);
static_assert(offsetof(ManagedVersioned, flags) == 24 && offsetof(ManagedVersioned, view) == 32 && sizeof(ManagedVersioned) == 80);

/// What one of DLPack's structs holds, by our names.
[[nodiscard]] inline Managed* layout_of(DLManagedTensor* managed) { return reinterpret_cast<Managed*>(managed); }
[[nodiscard]] inline ManagedVersioned* layout_of(DLManagedTensorVersioned* managed) { return reinterpret_cast<ManagedVersioned*>(managed); }

}  // namespace tandem::dlpack
