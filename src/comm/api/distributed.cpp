// Checks, then one call of the group each. Everything is dense from here on.
#include "comm/api/distributed.h"

#include <algorithm>
#include <array>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "comm/api/world.h"
#include "comm/dense.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/view.h"
#include "tensor/tensor_impl.h"

namespace tandem::distributed {

using namespace comm;  // NOLINT(google-build-using-namespace): the room's own words

namespace {

using Tensors = std::array<Tensor, 1>;

std::shared_ptr<Group> group_of(const char* op, const ProcessGroup& group) {
  if (!group.is_member()) fail('[', op, "] this rank is not in the group: call it on the group's ranks only (group.is_member())");
  if (group.group()) return group.group();
  return require_world(op)->everyone;
}

/// The number in the group of a rank of the whole program.
int rank_in(const char* op, const char* what, const Group& group, int rank) {
  const auto& ranks = group.ranks();
  const auto at = std::find(ranks.begin(), ranks.end(), rank);
  if (at == ranks.end())
    fail('[', op, "] ", what, " is rank ", rank, ", but the group's ranks are ", Shape(std::vector<int64_t>(ranks.begin(), ranks.end())),
         ": give one of them");
  return static_cast<int>(at - ranks.begin());
}

int peer_in(const char* op, const char* what, const Group& group, int rank) {
  const int peer = rank_in(op, what, group, rank);
  if (peer == group.rank()) fail('[', op, "] ", what, " is rank ", rank, " itself: a rank sends nothing to itself");
  return peer;
}

void check_defined(const char* op, const Tensor& t) {
  if (!t.defined()) fail('[', op, "] expected a tensor, but got an undefined one");
}

void check_written(const char* op, const Tensor& t) {
  check_defined(op, t);
  autograd::check_in_place(op, t);
}

void check_op(const char* op, const Tensor& t, ReduceOp reduction) {
  if (reduction == ReduceOp::AVG && !t.is_floating_point())
    fail('[', op, "] AVG is for floating dtypes, but the tensor is ", t.dtype(), ": reduce by SUM and divide");
}

void check_alike(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) fail('[', op, "] tensors must have one dtype, but there are ", a.dtype(), " and ", b.dtype());
  if (a.device() != b.device())
    fail('[', op, "] tensors must be on one device, but there are some on ", a.device(), " and on ", b.device());
}

Call call_of(Collective kind, const Tensor& t, const CollectiveOptions& options, Site site, ReduceOp op = ReduceOp::SUM, int root = -1,
             int tag = 0) {
  Call call = comm::call_of(kind, t, site, op, root);
  call.tag = tag;
  call.label = options.label;
  return call;
}

void check_blocking(const char* op, const CollectiveOptions& options, const char* instead) {
  if (options.async_op) fail('[', op, "] gives its result, so it cannot be asynchronous: use ", instead);
}

Tensor empty_beside(const Tensor& t, const Shape& sizes, Site site) {
  return Tensor(TensorImpl::make(sizes, t.dtype(), t.device(), false, site));
}

/// Tensors over consecutive parts of a dense one, each with a storage of its own, so that changing one in place counts for none of the
/// others.
std::vector<Tensor> parts_of(const Tensor& whole, const std::vector<Shape>& sizes) {
  std::vector<Tensor> parts;
  size_t offset = 0;
  for (const Shape& part : sizes) {
    const size_t bytes = static_cast<size_t>(part.numel()) * whole.element_size();
    const Ref<Storage> storage(new Storage(*whole.impl().storage, offset, bytes));
    parts.emplace_back(TensorImpl::view(storage.get(), part, contiguous_strides(part), 0, whole.dtype()));
    offset += bytes;
  }
  return parts;
}

/// All tensors' elements in one dense vector.
Tensor flattened(const std::vector<Tensor>& tensors, Site site) {
  const NoGradGuard no_grad;
  std::vector<Tensor> flat;
  flat.reserve(tensors.size());
  for (const Tensor& t : tensors) flat.push_back(t.reshape({-1}, site));
  return cat(flat, 0, site);
}

}  // namespace

// --- Groups

int ProcessGroup::rank() const { return !member_ ? -1 : group_of("rank", *this)->rank(); }
int ProcessGroup::size() const { return !member_ ? -1 : group_of("size", *this)->size(); }
std::vector<int> ProcessGroup::ranks() const { return group_of("ranks", *this)->ranks(); }
uint64_t ProcessGroup::next_number() const { return group_of("next_number", *this)->next_number(); }
void ProcessGroup::abort(const std::string& reason) const { group_of("abort", *this)->abort(reason); }
std::string ProcessGroup::recorded_calls(bool json) const {
  const auto group = group_of("recorded_calls", *this);
  return json ? group->recorded_json() : group->recorded_text();
}

int get_rank(const ProcessGroup& group) { return group.is_member() ? group_of("get_rank", group)->rank() : -1; }
int get_world_size(const ProcessGroup& group) { return group.is_member() ? group_of("get_world_size", group)->size() : -1; }
std::string get_backend(const ProcessGroup& group) { return group_of("get_backend", group)->backend_name(); }

ProcessGroup new_group(const std::vector<int>& ranks, Site site) {
  const auto world = require_world("new_group");
  const int size = world->everyone->size();
  std::vector<bool> seen(static_cast<size_t>(size));
  if (ranks.empty()) fail("[new_group] a group has a rank at least, but ranks is empty: give those that take part, such as {0, 1}");
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size) fail("[new_group] there is no rank ", rank, " in a program of ", size, ": give 0 to ", size - 1);
    if (seen[static_cast<size_t>(rank)]) fail("[new_group] rank ", rank, " is given twice: give each rank once");
    seen[static_cast<size_t>(rank)] = true;
  }
  std::shared_ptr<Group> group = world->everyone->sub_group(ranks, world->everyone->timeout(), site);
  if (!group) return ProcessGroup(nullptr, false);
  const std::lock_guard lock(world->mutex);
  world->others.push_back(group);
  return ProcessGroup(std::move(group));
}

// --- Collectives

Tensor symmetric_zeros(const Shape& sizes, DType dtype, const ProcessGroup& group, Site site) {
  const size_t bytes = static_cast<size_t>(sizes.numel()) * size_of(dtype);
  auto memory = std::make_unique<std::shared_ptr<void>>(group_of("symmetric_zeros", group)->shared_memory(bytes));
  if (!*memory) return zeros(sizes, {.dtype = dtype, .device = cpu()}, site);
  void* const data = memory->get();
  const auto drop = [](void* held) { delete static_cast<std::shared_ptr<void>*>(held); };
  const Ref<Storage> storage(new Storage(cpu(), data, bytes, drop, memory.get()));
  (void)memory.release();
  return Tensor(TensorImpl::view(storage.get(), sizes, contiguous_strides(sizes), 0, dtype));
}

Work all_reduce(const Tensor& t, ReduceOp op, const CollectiveOptions& options, Site site) {
  check_written("all_reduce", t);
  check_op("all_reduce", t, op);
  const auto group = group_of("all_reduce", options.group);
  CopiesBack copies(*group, site);
  const Tensors used{copies.writable(t)};
  Work work = group->run(call_of(Collective::AllReduce, t, options, site, op), used, used, options.async_op);
  return std::move(copies).finish(std::move(work), options.async_op);
}

Work all_reduce_coalesced(const std::vector<Tensor>& tensors, ReduceOp op, const CollectiveOptions& options, Site site) {
  constexpr const char* kName = "all_reduce_coalesced";
  if (tensors.empty()) return {};
  for (const Tensor& t : tensors) {
    check_written(kName, t);
    check_alike(kName, tensors[0], t);
  }
  const auto group = group_of(kName, options.group);
  if (tensors.size() == 1) return all_reduce(tensors[0], op, options, site);
  CopiesBack copies(*group, site);
  const Tensor flat = flattened(tensors, site);
  std::vector<Shape> sizes;
  for (const Tensor& t : tensors) sizes.push_back(t.sizes());
  const std::vector<Tensor> parts = parts_of(flat, sizes);
  for (size_t i = 0; i < tensors.size(); ++i) copies.add(tensors[i], parts[i]);
  return std::move(copies).finish(all_reduce(flat, op, options, site), options.async_op);
}

Work broadcast(const Tensor& t, int src, const CollectiveOptions& options, Site site) {
  check_written("broadcast", t);
  const auto group = group_of("broadcast", options.group);
  const int root = rank_in("broadcast", "src", *group, src);
  CopiesBack copies(*group, site);
  const Tensors used{group->rank() == root ? copies.readable(t) : copies.writable(t)};
  Work work = group->run(call_of(Collective::Broadcast, t, options, site, {}, root), used, used, options.async_op);
  return std::move(copies).finish(std::move(work), options.async_op);
}

Work reduce(const Tensor& t, int dst, ReduceOp op, const CollectiveOptions& options, Site site) {
  check_written("reduce", t);
  check_op("reduce", t, op);
  const auto group = group_of("reduce", options.group);
  const int root = rank_in("reduce", "dst", *group, dst);
  CopiesBack copies(*group, site);
  const Tensors used{group->rank() == root ? copies.writable(t) : copies.readable(t)};
  Work work = group->run(call_of(Collective::Reduce, t, options, site, op, root), used, used, options.async_op);
  return std::move(copies).finish(std::move(work), options.async_op);
}

Work all_gather_into_tensor(const Tensor& out, const Tensor& in, const CollectiveOptions& options, Site site) {
  constexpr const char* kName = "all_gather_into_tensor";
  check_written(kName, out);
  check_defined(kName, in);
  check_alike(kName, out, in);
  const auto group = group_of(kName, options.group);
  if (out.numel() != in.numel() * group->size())
    fail('[', kName, "] the output needs ", group->size(), " times the input's ", in.numel(), " elements, but has ", out.numel());
  CopiesBack copies(*group, site);
  const Tensors to{copies.writable(out)}, from{copies.readable(in)};
  Work work = group->run(call_of(Collective::AllGather, in, options, site), from, to, options.async_op);
  return std::move(copies).finish(std::move(work), options.async_op);
}

std::vector<Tensor> all_gather(const Tensor& t, const CollectiveOptions& options, Site site) {
  check_defined("all_gather", t);
  check_blocking("all_gather", options, "all_gather_into_tensor");
  const auto group = group_of("all_gather", options.group);
  const Tensor all = empty_beside(t, {t.numel() * group->size()}, site);
  (void)all_gather_into_tensor(all, t, options, site);
  return parts_of(all, std::vector<Shape>(static_cast<size_t>(group->size()), t.sizes()));
}

Work reduce_scatter_tensor(const Tensor& out, const Tensor& in, ReduceOp op, const CollectiveOptions& options, Site site) {
  constexpr const char* kName = "reduce_scatter_tensor";
  check_written(kName, out);
  check_defined(kName, in);
  check_alike(kName, out, in);
  check_op(kName, in, op);
  const auto group = group_of(kName, options.group);
  if (in.numel() != out.numel() * group->size())
    fail('[', kName, "] the input needs ", group->size(), " times the output's ", out.numel(), " elements, but has ", in.numel());
  CopiesBack copies(*group, site);
  const Tensors to{copies.writable(out)}, from{copies.readable(in)};
  Work work = group->run(call_of(Collective::ReduceScatter, out, options, site, op), from, to, options.async_op);
  return std::move(copies).finish(std::move(work), options.async_op);
}

Tensor reduce_scatter(const Tensor& t, ReduceOp op, const CollectiveOptions& options, Site site) {
  check_defined("reduce_scatter", t);
  check_blocking("reduce_scatter", options, "reduce_scatter_tensor");
  const auto group = group_of("reduce_scatter", options.group);
  if (t.dim() == 0 || t.size(0) % group->size() != 0)
    fail("[reduce_scatter] dimension 0 must be cut into ", group->size(), " equal parts, but the sizes are ", t.sizes());
  Shape sizes = t.sizes();
  sizes[0] /= group->size();
  Tensor out = empty_beside(t, sizes, site);
  (void)reduce_scatter_tensor(out, t, op, options, site);
  return out;
}

namespace {

/// Elements of the parts of dimension 0.
std::vector<int64_t> split_counts(const char* what, const Tensor& t, const std::vector<int64_t>& sizes, int parts) {
  constexpr const char* kName = "all_to_all_single";
  if (t.dim() == 0) fail('[', kName, "] ", what, " needs a dimension to be cut along");
  std::vector<int64_t> counts = sizes;
  if (counts.empty()) {
    if (t.size(0) % parts != 0) fail('[', kName, "] ", what, " of sizes ", t.sizes(), " cannot be cut into ", parts, " equal parts");
    counts.assign(static_cast<size_t>(parts), t.size(0) / parts);
  }
  int64_t sum = 0;
  bool negative = false;
  for (const int64_t size : counts) {
    sum += size;
    negative |= size < 0;
  }
  if (counts.size() != static_cast<size_t>(parts) || sum != t.size(0) || negative)
    fail('[', kName, "] ", what, " of sizes ", t.sizes(), " needs split sizes for ", parts, " ranks that add up to ", t.size(0),
         ", but got ", Shape(counts));
  const int64_t row = t.size(0) == 0 ? 0 : t.numel() / t.size(0);
  for (int64_t& count : counts) count *= row;
  return counts;
}

Work run_all_to_all(const std::shared_ptr<Group>& group, const Tensor& out, const Tensor& in, std::vector<int64_t> out_counts,
                    std::vector<int64_t> in_counts, const CollectiveOptions& options, Site site) {
  CopiesBack copies(*group, site);
  const Tensors to{copies.writable(out)}, from{copies.readable(in)};
  Call call = call_of(Collective::AllToAll, in, options, site);
  call.sizes = {};  // they may differ
  call.out_counts = std::move(out_counts);
  call.in_counts = std::move(in_counts);
  Work work = group->run(std::move(call), from, to, options.async_op);
  return std::move(copies).finish(std::move(work), options.async_op);
}

}  // namespace

Work all_to_all_single(const Tensor& out, const Tensor& in, const std::vector<int64_t>& output_split_sizes,
                       const std::vector<int64_t>& input_split_sizes, const CollectiveOptions& options, Site site) {
  constexpr const char* kName = "all_to_all_single";
  check_written(kName, out);
  check_defined(kName, in);
  check_alike(kName, out, in);
  const auto group = group_of(kName, options.group);
  return run_all_to_all(group, out, in, split_counts("the output", out, output_split_sizes, group->size()),
                        split_counts("the input", in, input_split_sizes, group->size()), options, site);
}

std::vector<Tensor> all_to_all(const std::vector<Tensor>& inputs, const CollectiveOptions& options, Site site) {
  constexpr const char* kName = "all_to_all";
  check_blocking(kName, options, "all_to_all_single");
  const auto group = group_of(kName, options.group);
  const auto n = static_cast<size_t>(group->size());
  if (inputs.size() != n) fail('[', kName, "] there must be a tensor for each of the ", n, " ranks, but there are ", inputs.size());
  for (const Tensor& t : inputs) {
    check_defined(kName, t);
    check_alike(kName, inputs[0], t);
  }
  // First the sizes of what will come: how many dimensions, and they.
  constexpr int64_t kWords = 1 + kMaxDims;
  const Tensor told(TensorImpl::make({static_cast<int64_t>(n), kWords}, kInt64, cpu(), false, site));
  const Tensor heard(TensorImpl::make({static_cast<int64_t>(n), kWords}, kInt64, cpu(), false, site));
  auto* words = static_cast<int64_t*>(told.impl().data);
  std::fill(words, words + told.numel(), 0);
  std::vector<int64_t> in_counts, out_counts;
  for (size_t r = 0; r < n; ++r) {
    words[r * kWords] = inputs[r].dim();
    std::copy(inputs[r].sizes().begin(), inputs[r].sizes().end(), words + r * kWords + 1);
    in_counts.push_back(inputs[r].numel());
  }
  (void)all_to_all_single(heard, told, {}, {}, options, site);
  std::vector<Shape> sizes;
  words = static_cast<int64_t*>(heard.impl().data);
  int64_t total = 0;
  for (size_t r = 0; r < n; ++r) {
    sizes.emplace_back(words + r * kWords + 1, static_cast<size_t>(std::clamp<int64_t>(words[r * kWords], 0, kMaxDims)));
    out_counts.push_back(sizes.back().numel());
    total += out_counts.back();
  }
  const Tensor out = empty_beside(inputs[0], {total}, site);
  (void)run_all_to_all(group, out, flattened(inputs, site), std::move(out_counts), std::move(in_counts), options, site);
  return parts_of(out, sizes);
}

std::vector<Tensor> gather(const Tensor& t, int dst, const CollectiveOptions& options, Site site) {
  check_defined("gather", t);
  check_blocking("gather", options, "all_gather_into_tensor");
  const auto group = group_of("gather", options.group);
  const int root = rank_in("gather", "dst", *group, dst);
  const bool here = group->rank() == root;
  CopiesBack copies(*group, site);
  const Tensors from{copies.readable(t)};
  const Tensors to{empty_beside(from[0], {here ? t.numel() * group->size() : 0}, site)};
  (void)group->run(call_of(Collective::Gather, t, options, site, {}, root), from, to, false);
  if (!here) return {};
  return parts_of(to[0].to(t.device(), {}, site), std::vector<Shape>(static_cast<size_t>(group->size()), t.sizes()));
}

Work scatter(const Tensor& out, const std::vector<Tensor>& parts, int src, const CollectiveOptions& options, Site site) {
  check_written("scatter", out);
  const auto group = group_of("scatter", options.group);
  const int root = rank_in("scatter", "src", *group, src);
  const bool here = group->rank() == root;
  if (parts.size() != (here ? static_cast<size_t>(group->size()) : 0))
    fail("[scatter] rank ", src, " gives a tensor for each of the ", group->size(), " ranks, and the others none, but there are ",
         parts.size());
  for (const Tensor& part : parts) {
    check_defined("scatter", part);
    check_alike("scatter", out, part);
    if (!(part.sizes() == out.sizes())) fail("[scatter] tensors must have one size, but there are ", out.sizes(), " and ", part.sizes());
  }
  CopiesBack copies(*group, site);
  const Tensors to{copies.writable(out)};
  const Tensors from{here ? copies.readable(flattened(parts, site)) : empty_beside(to[0], {0}, site)};
  Work work = group->run(call_of(Collective::Scatter, out, options, site, {}, root), from, to, options.async_op);
  return std::move(copies).finish(std::move(work), options.async_op);
}

// --- Between two ranks

namespace {

Work run_send(const Tensor& t, int dst, int tag, const CollectiveOptions& options, bool async_op, Site site) {
  check_defined("send", t);
  const auto group = group_of("send", options.group);
  const int peer = peer_in("send", "dst", *group, dst);
  const Tensors used{CopiesBack(*group, site).readable(t)};
  return group->run(call_of(Collective::Send, t, options, site, {}, peer, tag), used, {}, async_op);
}

Work run_recv(const Tensor& t, int src, int tag, const CollectiveOptions& options, bool async_op, Site site) {
  check_written("recv", t);
  const auto group = group_of("recv", options.group);
  const int peer = peer_in("recv", "src", *group, src);
  CopiesBack copies(*group, site);
  const Tensors used{copies.writable(t)};
  Work work = group->run(call_of(Collective::Recv, t, options, site, {}, peer, tag), {}, used, async_op);
  return std::move(copies).finish(std::move(work), async_op);
}

}  // namespace

void send(const Tensor& t, int dst, int tag, const CollectiveOptions& options, Site site) {
  (void)run_send(t, dst, tag, options, false, site);
}
void recv(const Tensor& t, int src, int tag, const CollectiveOptions& options, Site site) {
  (void)run_recv(t, src, tag, options, false, site);
}
Work isend(const Tensor& t, int dst, int tag, const CollectiveOptions& options, Site site) {
  return run_send(t, dst, tag, options, true, site);
}
Work irecv(const Tensor& t, int src, int tag, const CollectiveOptions& options, Site site) {
  return run_recv(t, src, tag, options, true, site);
}

Work barrier(const CollectiveOptions& options, Site site) {
  Call call;
  call.site = site;
  call.label = options.label;
  return group_of("barrier", options.group)->run(call, {}, {}, options.async_op);
}

void monitored_barrier(const ProcessGroup& group, std::chrono::milliseconds timeout, Site site) {
  if (timeout.count() <= 0) fail("[monitored_barrier] timeout must be positive, but is ", timeout.count(), " ms");
  Call call;
  call.site = site;
  (void)group_of("monitored_barrier", group)->run(call, {}, {}, false, timeout);
}

}  // namespace tandem::distributed
