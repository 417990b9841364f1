// Which hardware: names of devices, counting them, choosing one, describing it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/site.h"

namespace tandem {

/// The kinds of hardware.
enum class DeviceType : int8_t { CPU, CUDA };

/// A kind of hardware and its index: "cpu", "cuda" (the calling thread's current GPU), "cuda:1".
class Device {
 public:
  /// As DeviceType.
  using Type = DeviceType;

  /// The CPU.
  constexpr Device() = default;
  /// `index` -1 means the current one. A tensor's device always has its index.
  constexpr Device(DeviceType type, int index = -1) : type_(type), index_(static_cast<int16_t>(type == DeviceType::CPU ? -1 : index)) {}
  /// From its name: a type, then optionally `:` and an index without leading zeros. Error for anything else.
  Device(std::string_view name, Site = Site::here());
  Device(const char* name, Site site = Site::here()) : Device(std::string_view(name), site) {}
  Device(const std::string& name, Site site = Site::here()) : Device(std::string_view(name), site) {}

  /// The kind of hardware.
  [[nodiscard]] constexpr DeviceType type() const { return type_; }
  /// The GPU's number; -1 for the CPU and for "cuda" without a number.
  [[nodiscard]] constexpr int index() const { return index_; }
  /// Whether it says which GPU; the CPU has no number.
  [[nodiscard]] constexpr bool has_index() const { return index_ >= 0; }
  /// Names another GPU, or the current one by -1. The CPU stays as it is.
  constexpr void set_index(int index) { *this = Device(type_, index); }
  /// Whether it is the CPU.
  [[nodiscard]] constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  /// Whether it is a GPU, virtual or real.
  [[nodiscard]] constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  /// As "cuda:1".
  [[nodiscard]] std::string str() const;
  /// As "device(type='cuda', index=1)".
  [[nodiscard]] std::string repr() const;
  friend constexpr bool operator==(const Device&, const Device&) = default;

 private:
  DeviceType type_ = DeviceType::CPU;
  int16_t index_ = -1;
};

/// As str().
std::ostream& operator<<(std::ostream& out, const Device& device);
void append_text(std::string& out, const Device& device);

/// The CPU.
[[nodiscard]] constexpr Device cpu() { return Device(); }
/// GPU `i`, whether it exists or not; using one that does not is an error that says so.
[[nodiscard]] constexpr Device gpu(int i = 0) { return Device(DeviceType::CUDA, i); }
/// How many GPUs there are, virtual or real.
[[nodiscard]] int num_gpus();
/// GPU `i` where there is one, else the CPU.
[[nodiscard]] Device try_gpu(int i = 0);
/// All GPUs; the CPU alone where there is none.
[[nodiscard]] std::vector<Device> try_all_gpus();

namespace cuda {

/// What a GPU says of itself.
struct DeviceProperties {
  std::string name;               // a virtual GPU has "virtual" in it
  std::string uuid;               // without the "GPU-"
  size_t total_memory = 0;        // bytes
  int multi_processor_count = 1;  // for a virtual GPU: its share of the cores
  int major = 0, minor = 0;       // compute capability; 0.0 for a virtual GPU
  bool is_virtual = false;
};

/// Whether there is any GPU. As torch.cuda.is_available.
[[nodiscard]] bool is_available();
/// How many GPUs there are. As torch.cuda.device_count.
[[nodiscard]] int device_count();
/// The calling thread's current GPU.
[[nodiscard]] int current_device();
/// Makes GPU `index` the calling thread's current one. Error where there is no such GPU.
void set_device(int index, Site = Site::here());
void set_device(Device device);
/// Name, memory and so on. Error where there is no such GPU.
[[nodiscard]] const DeviceProperties& get_device_properties(Device device = Device(DeviceType::CUDA));
inline const DeviceProperties& get_device_properties(int index) { return get_device_properties(gpu(index)); }
/// Its name. Error where there is no such GPU.
[[nodiscard]] inline std::string get_device_name(int index) { return get_device_properties(index).name; }
/// {free, total} bytes of the GPU.
[[nodiscard]] std::pair<size_t, size_t> mem_get_info(Device device = Device(DeviceType::CUDA));
[[nodiscard]] inline std::pair<size_t, size_t> mem_get_info(int index) { return mem_get_info(gpu(index)); }
/// Whether kernels of GPU `device` can reach memory of GPU `peer`.
[[nodiscard]] bool can_device_access_peer(int device, int peer, Site = Site::here());
/// Waits for all work of the GPU; throws what went wrong in it.
void synchronize(Device device = Device(DeviceType::CUDA), Site site = Site::here());
inline void synchronize(int index, Site site = Site::here()) { synchronize(gpu(index), site); }

/// Makes a GPU current for the calling thread until the end of the scope. A guard for the CPU does nothing.
class DeviceGuard {
 public:
  explicit DeviceGuard(int index) : DeviceGuard(gpu(index)) {}
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_;
};

/// Sets up virtual GPUs from C++ instead of TANDEM_VIRTUAL_GPUS, in the same grammar ("2x256MiB,link=25GB/s"). Error after the first use
/// of a GPU.
void use_virtual_gpus(std::string_view specification, Site = Site::here());

}  // namespace cuda

namespace detail {
/// With the index filled in and checked: "cuda" becomes the current GPU. Error that names the device where it does not exist.
[[nodiscard]] Device resolve(Device device);
}  // namespace detail

}  // namespace tandem
