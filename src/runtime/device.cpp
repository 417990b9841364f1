// Devices: reading and showing their names, counting GPUs, the calling thread's current GPU.
#include "runtime/device.h"

#include <charconv>
#include <ostream>

#include "base/env.h"
#include "base/error.h"
#include "base/wait_hook.h"
#include "runtime/capture.h"
#include "runtime/driver.h"
#include "runtime/observer.h"
#include "runtime/stream_record.h"

namespace tandem {

constinit thread_local int runtime::detail::current_device = 0;

namespace {

constexpr int kMaxIndex = 127;  // the range of PyTorch's device index, which wraps beyond it; here that is an error

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

[[noreturn]] void no_such_device(Device device, int count) {
  const auto chosen = environment("CUDA_VISIBLE_DEVICES");
  fail(device, ": there is no such GPU; ",
       count == 0   ? std::string("this process sees none")
       : count == 1 ? std::string("this process sees one, cuda:0")
                    : str("this process sees ", count, ", cuda:0 to cuda:", count - 1),
       chosen ? str("; CUDA_VISIBLE_DEVICES=", *chosen, " says which") : "");
}

// The index of a GPU that exists. `device` is no CPU.
int device_index(Device device) {
  runtime::Driver& driver = runtime::require_driver();
  if (device.index() < -1) fail("cuda:", device.index(), ": the index of a GPU must not be negative; gpu() without one is GPU 0");
  const int index = device.index() < 0 ? runtime::detail::current_device : device.index();
  if (index >= driver.device_count()) no_such_device(gpu(index), driver.device_count());
  return index;
}

using runtime::device_index;

}  // namespace

int runtime::device_index(Device device, const char* call) {
  if (device.is_cpu()) fail('[', call, "] expected a cuda device, but got: cpu");
  return tandem::device_index(device);
}

Device::Device(std::string_view name, Site /*site*/) {
  if (name.empty()) fail("Device string must not be empty: expected 'cpu', 'cuda' or 'cuda:1'");
  const auto invalid = [&]() { fail("Invalid device string: '", name, "': expected 'cpu', 'cuda' or 'cuda:1'"); };
  const size_t colon = name.find(':');
  const std::string_view type = name.substr(0, colon);
  if (type.empty()) invalid();
  for (const char c : type) {
    if (!is_letter(c)) invalid();
  }
  int index = -1;
  if (colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) invalid();
    for (const char c : digits) {
      if (c < '0' || c > '9') invalid();
    }
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), index).ec;
    if (error != std::errc() || index > kMaxIndex) fail("Invalid device string: '", name, "': the index must be at most ", kMaxIndex);
  }
  if (type == "cuda") {
    type_ = DeviceType::CUDA;
  } else if (type != "cpu") {
    fail("Expected one of cpu, cuda device type at start of device string: ", type, "; write 'cpu', 'cuda' or 'cuda:1'");
  } else if (index > 0) {
    fail("CPU device index must be -1 or zero, got ", index);
  }
  index_ = static_cast<int16_t>(is_cpu() ? -1 : index);
}

std::string Device::str() const {
  if (is_cpu()) return "cpu";
  return index_ < 0 ? std::string("cuda") : "cuda:" + std::to_string(index_);
}

std::string Device::repr() const {
  if (is_cpu()) return "device(type='cpu')";
  return index_ < 0 ? std::string("device(type='cuda')") : "device(type='cuda', index=" + std::to_string(index_) + ")";
}

std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

void append_text(std::string& out, const Device& device) { out += device.str(); }

namespace detail {

Device resolve(Device device) { return device.is_cpu() ? device : gpu(device_index(device)); }

}  // namespace detail

int num_gpus() {
  const runtime::Driver* driver = runtime::driver();
  return driver ? driver->device_count() : 0;
}

Device try_gpu(int i) { return i >= 0 && i < num_gpus() ? gpu(i) : cpu(); }

std::vector<Device> try_all_gpus() {
  std::vector<Device> all;
  const int count = num_gpus();
  for (int i = 0; i < count; ++i) all.push_back(gpu(i));
  if (all.empty()) all.push_back(cpu());
  return all;
}

namespace cuda {

bool is_available() { return num_gpus() > 0; }
int device_count() { return num_gpus(); }
int current_device() { return runtime::detail::current_device; }

void set_device(int index, Site /*site*/) {
  if (index < 0) fail("[set_device] expected the index of a GPU, but got ", index);
  runtime::detail::current_device = device_index(gpu(index));
}

void set_device(Device device) { runtime::detail::current_device = device_index(device, "set_device"); }

const DeviceProperties& get_device_properties(Device device) {
  const int index = device_index(device, "get_device_properties");
  return runtime::require_driver().properties(index);
}

std::pair<size_t, size_t> mem_get_info(Device device) {
  const int index = device_index(device, "mem_get_info");
  return runtime::require_driver().memory_info(index);
}

bool can_device_access_peer(int device, int peer, Site /*site*/) {
  if (device < 0 || peer < 0) fail("[can_device_access_peer] expected indices of GPUs, but got ", device, " and ", peer);
  const int from = device_index(gpu(device)), to = device_index(gpu(peer));
  return runtime::require_driver().can_access_peer(from, to);
}

void synchronize(Device device, Site site) {
  const int index = device_index(device, "synchronize");
  if (const runtime::Capture* capture = runtime::capture_on(index)) runtime::refuse_capture(*capture->stream, "synchronize");
  using runtime::facts::Wait;
  const runtime::Telling told([&] { return Wait{.kind = Wait::Device, .op = "synchronize", .site = site, .device = gpu(index)}; });
  const tandem::detail::MayEndWaits may_end;
  runtime::require_driver().synchronize_device(index, site);
}

DeviceGuard::DeviceGuard(Device device) : before_(runtime::detail::current_device) {
  if (device.is_cuda()) runtime::detail::current_device = device_index(device);
}

DeviceGuard::~DeviceGuard() { runtime::detail::current_device = before_; }

}  // namespace cuda
}  // namespace tandem
