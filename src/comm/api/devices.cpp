// Virtual GPUs, each with one tensor, are the ranks of a group whose every part this thread queues; real ones those of a back end that
// takes them. All other lists of devices go by ordinary copies and operations.
#include "comm/api/devices.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "comm/by_copies.h"
#include "comm/dense.h"
#include "comm/group.h"
#include "comm/local/backend.h"
#include "ops/join.h"
#include "ops/view.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"
#include "tensor/tensor_impl.h"

namespace tandem::comm {
namespace {

using Groups = std::vector<std::shared_ptr<Group>>;
using Backends = std::vector<std::unique_ptr<Backend>>;

struct Known {
  std::mutex mutex;
  std::map<std::vector<int>, Groups> groups;      // of virtual GPUs, by their indices
  std::map<std::vector<int>, Backends> backends;  // of real ones; empty where no back end takes them
};
Known& known() {
  static auto* all = new Known;  // not destroyed: streams may still work
  return *all;
}

std::vector<int> indices(const std::vector<Device>& devices) {
  std::vector<int> all;
  for (const Device device : devices) all.push_back(device.index());
  return all;
}

/// The ranks of real GPUs. With the mutex of what is known held.
Backends& backends_of(const std::vector<Device>& devices) {
  auto& all = known().backends;
  const auto key = indices(devices);
  if (const auto found = all.find(key); found != all.end()) return found->second;
  Backends& made = all[key];
  for (const BackendFactory& factory : backends()) {
    if (!factory.make_many || !made.empty()) continue;
    try {
      made = factory.make_many(devices);
    } catch (const Error&) {
      // Copies serve as well; cuda::libraries() says why.
    }
  }
  return made;
}

/// Whether they are ranks: several GPUs, all different, virtual ones or such that a back end takes.
bool are_ranks(const std::vector<Device>& devices) {
  if (devices.size() < 2 || !std::all_of(devices.begin(), devices.end(), [](Device d) { return d.is_cuda(); })) return false;
  std::vector<int> sorted = indices(devices);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return false;
  if (runtime::devices_are_virtual()) return true;
  const std::lock_guard lock(known().mutex);
  return !backends_of(devices).empty();
}

std::vector<Device> devices_of(const std::vector<Tensor>& tensors) {
  std::vector<Device> devices;
  for (const Tensor& t : tensors) devices.push_back(t.device());
  return devices;
}

void check_alike(const char* op, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail('[', op, "] no tensors were given");
  for (const Tensor& t : tensors) {
    if (!t.defined()) fail('[', op, "] expected tensors, but one is undefined");
    if (!(t.sizes() == tensors[0].sizes()) || t.dtype() != tensors[0].dtype())
      fail('[', op, "] tensors must have one size and dtype, but there are ", tensors[0].dtype(), ' ', tensors[0].sizes(), " on ",
           tensors[0].device(), " and ", t.dtype(), ' ', t.sizes(), " on ", t.device());
  }
}

void check_op(const char* op, const Tensor& t, ReduceOp reduction) {
  if (reduction == ReduceOp::AVG && !t.is_floating_point())
    fail('[', op, "] AVG is for floating dtypes, but the tensors are ", t.dtype(), ": reduce by SUM and divide");
}

/// Calls of several ranks by this thread, which begin together at `end`; given up where an error ends the scope before.
class Many {
 public:
  explicit Many(Backend& any) : any_(any) { any_.begin_many(); }
  ~Many() {
    if (!open_) return;
    try {
      any_.end_many();
    } catch (const std::exception&) {
      // There is an error already.
    }
  }
  Many(const Many&) = delete;
  Many& operator=(const Many&) = delete;
  void end() {
    open_ = false;
    any_.end_many();
  }

 private:
  Backend& any_;
  bool open_ = true;
};

/// A rank's tensor, or none.
std::span<const Tensor> one_or_none(const Tensor& t) { return {&t, t.defined() ? size_t{1} : 0}; }

/// Queues every rank's part on the current stream of its device.
void run_on_streams(Backends& ranks, const std::vector<Device>& devices, const Call& call, const std::vector<Tensor>& ins,
                    const std::vector<Tensor>& outs) {
  try {
    Many together(*ranks[0]);
    for (size_t i = 0; i < devices.size(); ++i) {
      const runtime::StreamHandle stream = runtime::current_stream(devices[i].index())->handle;
      const Call own = with_buffers(call, one_or_none(ins[i]), one_or_none(outs[i]));
      ranks[i]->run(Context{.call = own, .device = devices[i], .stream = stream, .deadline = Clock::now() + kTimeout});
    }
    together.end();
  } catch (const std::exception& error) {
    for (const auto& rank : ranks) rank->abort(error.what());
    known().backends.erase(indices(devices));
    throw;
  }
}

/// Queues every rank's part: it reads ins[i] and writes outs[i], which is undefined where it writes none.
void run(const char* op, const std::vector<Device>& devices, const Call& call, const std::vector<Tensor>& ins,
         const std::vector<Tensor>& outs) {
  for (const Device device : devices)
    if (runtime::require_driver().capturing(runtime::current_stream(device.index())->handle))
      fail('[', op, "] a collective cannot be captured in a graph: its ranks would not meet at a replay");
  Known& all = known();
  const std::lock_guard lock(all.mutex);  // two threads' calls must not mix
  if (!runtime::devices_are_virtual()) return run_on_streams(backends_of(devices), devices, call, ins, outs);
  Groups& groups = all.groups[indices(devices)];
  if (groups.empty()) {
    const auto team = make_thread_team(static_cast<int>(devices.size()));
    std::vector<int> ranks;
    for (size_t i = 0; i < devices.size(); ++i) ranks.push_back(static_cast<int>(i));
    for (const int rank : ranks)
      groups.push_back(std::make_shared<Group>(std::make_unique<LocalBackend>(team, rank), nullptr, ranks, kTimeout));
  }
  try {
    for (size_t i = 0; i < devices.size(); ++i) (void)groups[i]->run(call, one_or_none(ins[i]), one_or_none(outs[i]), false);
  } catch (const std::exception& error) {
    // Those that were queued would wait for the others for ever.
    for (const auto& group : groups) group->abort(error.what());
    all.groups.erase(indices(devices));
    throw;
  }
}

Tensor empty_on(Device device, const Tensor& like, const Shape& sizes, Site site) {
  return Tensor(TensorImpl::make(sizes, like.dtype(), device, false, site));
}

std::vector<Tensor> dense(const std::vector<Tensor>& tensors, Site site) {
  std::vector<Tensor> all;
  for (const Tensor& t : tensors) all.push_back(t.contiguous(site));
  return all;
}

}  // namespace

void all_reduce(const std::vector<Tensor>& tensors, ReduceOp op, Site site) {
  check_alike("all_reduce", tensors);
  check_op("all_reduce", tensors[0], op);
  for (const Tensor& t : tensors) autograd::check_in_place("all_reduce", t);
  const NoGradGuard no_grad;
  const std::vector<Device> devices = devices_of(tensors);
  if (!are_ranks(devices)) return all_reduce_by_copies(tensors, op, site);
  const std::vector<Tensor> used = dense(tensors, site);
  run("all_reduce", devices, call_of(Collective::AllReduce, tensors[0], site, op), used, used);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!used[i].is_same(tensors[i])) tensors[i].copy_(used[i], false, site);
}

void all_reduce_coalesced(const std::vector<std::vector<Tensor>>& tensors, ReduceOp op, Site site) {
  constexpr const char* kName = "all_reduce_coalesced";
  if (tensors.empty() || tensors[0].empty()) return;
  for (const auto& list : tensors) {
    if (list.size() != tensors[0].size())
      fail('[', kName, "] every device gives as many tensors, but there are ", tensors[0].size(), " and ", list.size());
    for (const Tensor& t : list) {
      if (!t.defined()) fail('[', kName, "] expected tensors, but one is undefined");
      autograd::check_in_place(kName, t);
      if (t.device() != list[0].device() || t.dtype() != list[0].dtype())
        fail('[', kName, "] a device's tensors must be on it and of one dtype, but there are ", list[0].dtype(), " on ", list[0].device(),
             " and ", t.dtype(), " on ", t.device());
    }
  }
  const NoGradGuard no_grad;
  std::vector<Tensor> flat;
  for (const auto& list : tensors) {
    std::vector<Tensor> vectors;
    for (const Tensor& t : list) vectors.push_back(t.reshape({-1}, site));
    flat.push_back(cat(vectors, 0, site));
  }
  all_reduce(flat, op, site);
  for (size_t i = 0; i < tensors.size(); ++i) {
    int64_t begin = 0;
    for (const Tensor& t : tensors[i]) {
      t.copy_(flat[i].narrow(0, begin, t.numel(), site).reshape(t.sizes(), site), false, site);
      begin += t.numel();
    }
  }
}

std::vector<Tensor> broadcast(const Tensor& t, const std::vector<Device>& given, Site site) {
  if (!t.defined()) fail("[broadcast] expected a tensor, but got an undefined one");
  const NoGradGuard no_grad;
  std::vector<Device> devices;
  for (const Device device : given) devices.push_back(tandem::detail::resolve(device));
  const auto root = std::find(devices.begin(), devices.end(), t.device());
  std::vector<Tensor> copies;
  if (!are_ranks(devices) || root == devices.end()) {
    for (const Device device : devices) copies.push_back(t.to(device, {}, site));
    return copies;
  }
  const Tensor source = t.contiguous(site);
  for (const Device device : devices) copies.push_back(device == t.device() ? source : empty_on(device, t, t.sizes(), site));
  const auto number = static_cast<int>(root - devices.begin());
  std::vector<Tensor> outs = copies;
  outs[static_cast<size_t>(number)] = Tensor();  // the source is not written
  run("broadcast", devices, call_of(Collective::Broadcast, t, site, {}, number), copies, outs);
  copies[static_cast<size_t>(number)] = t;
  return copies;
}

Tensor reduce_add(const std::vector<Tensor>& tensors, Device device, Site site) {
  check_alike("reduce_add", tensors);
  const NoGradGuard no_grad;
  device = tandem::detail::resolve(device);
  const std::vector<Device> devices = devices_of(tensors);
  const auto root = std::find(devices.begin(), devices.end(), device);
  if (!are_ranks(devices) || root == devices.end()) return reduce_by_copies(tensors, device, ReduceOp::SUM, site);
  std::vector<Tensor> used = dense(tensors, site);
  const auto number = static_cast<size_t>(root - devices.begin());
  used[number] = used[number].clone(site);
  run("reduce_add", devices, call_of(Collective::Reduce, tensors[0], site, ReduceOp::SUM, static_cast<int>(number)), used, used);
  return used[number];
}

std::vector<Tensor> all_gather(const std::vector<Tensor>& tensors, Site site) {
  check_alike("all_gather", tensors);
  if (tensors[0].dim() == 0) fail("[all_gather] tensors without dimensions cannot be joined: give them one, as t.reshape({1})");
  const NoGradGuard no_grad;
  const std::vector<Device> devices = devices_of(tensors);
  std::vector<Tensor> outs;
  if (!are_ranks(devices)) {
    for (const Device device : devices) outs.push_back(gather(tensors, device, 0, site));
    return outs;
  }
  const std::vector<Tensor> used = dense(tensors, site);
  Shape sizes = tensors[0].sizes();
  sizes[0] *= static_cast<int64_t>(tensors.size());
  for (const Tensor& t : used) outs.push_back(empty_on(t.device(), t, sizes, site));
  run("all_gather", devices, call_of(Collective::AllGather, tensors[0], site), used, outs);
  return outs;
}

std::vector<Tensor> reduce_scatter(const std::vector<Tensor>& tensors, ReduceOp op, Site site) {
  check_alike("reduce_scatter", tensors);
  check_op("reduce_scatter", tensors[0], op);
  const auto n = static_cast<int64_t>(tensors.size());
  if (tensors[0].dim() == 0 || tensors[0].size(0) % n != 0)
    fail("[reduce_scatter] dimension 0 must be cut into ", n, " equal parts, but the sizes are ", tensors[0].sizes());
  const NoGradGuard no_grad;
  const std::vector<Device> devices = devices_of(tensors);
  const int64_t part = tensors[0].size(0) / n;
  std::vector<Tensor> outs;
  if (!are_ranks(devices)) {
    for (int64_t i = 0; i < n; ++i) {
      std::vector<Tensor> parts;
      for (const Tensor& t : tensors) parts.push_back(t.narrow(0, i * part, part, site));
      outs.push_back(reduce_by_copies(parts, devices[static_cast<size_t>(i)], op, site));
    }
    return outs;
  }
  const std::vector<Tensor> used = dense(tensors, site);
  Shape sizes = tensors[0].sizes();
  sizes[0] = part;
  for (const Tensor& t : used) outs.push_back(empty_on(t.device(), t, sizes, site));
  run("reduce_scatter", devices, call_of(Collective::ReduceScatter, outs[0], site, op), used, outs);
  return outs;
}

std::vector<Tensor> scatter(const Tensor& t, const std::vector<Device>& devices, int64_t dim, Site site) {
  if (devices.empty()) fail("[scatter] no devices were given");
  if (!t.defined() || t.dim() == 0) fail("[scatter] expected a tensor with a dimension to be cut along");
  const NoGradGuard no_grad;
  std::vector<Tensor> chunks = chunk(t, static_cast<int64_t>(devices.size()), dim, site);
  for (size_t i = 0; i < chunks.size(); ++i) chunks[i] = chunks[i].to(devices[i], {}, site);
  return chunks;
}

Tensor gather(const std::vector<Tensor>& tensors, Device device, int64_t dim, Site site) {
  if (tensors.empty()) fail("[gather] no tensors were given");
  const NoGradGuard no_grad;
  std::vector<Tensor> here;
  for (const Tensor& t : tensors) here.push_back(t.to(device, {}, site));
  return cat(here, dim, site);
}

}  // namespace tandem::comm
