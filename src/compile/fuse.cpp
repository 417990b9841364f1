#include "compile/fuse.h"

#include <algorithm>
#include <optional>

namespace tandem::compiling {
namespace {

using kernels::Pointwise;
using kernels::PointwiseOp;
using kernels::PointwiseOperand;
using kernels::Table;
using kernels::View;
using kernels::Windows;
using ConvolutionCall = CallOf<&Table::convolution>;
using PointwiseCall = CallOf<&Table::pointwise>;
using MaxPoolCall = CallOf<&Table::max_pool>;

/// Windows over the last two of three dimensions; nothing where the first counts.
std::optional<kernels::cpu::Windows2d> flat(const Windows& windows, const View& in, const View& out) {
  if (in.sizes[2] != 1 || out.sizes[2] != 1 || windows.kernel[0] != 1 || windows.padding[0] != 0) return {};
  kernels::cpu::Windows2d two{};
  for (int d = 0; d < 2; ++d) {
    two.kernel[d] = windows.kernel[d + 1];
    two.stride[d] = windows.stride[d + 1];
    two.padding[d] = windows.padding[d + 1];
    two.dilation[d] = windows.dilation[d + 1];
  }
  return two;
}

/// Float elements in the order of the result.
bool is_dense(const Pointwise& call, int i) {
  const PointwiseOperand& in = call.in[i];
  if (!in.data || in.dtype != DType::Float32) return false;
  int64_t stride = 1;
  for (int d = call.ndim - 1; d >= 0; --d) {
    if (call.sizes[d] != 1 && (in.strides[d] != stride || call.out_strides[d] != stride)) return false;
    stride *= call.sizes[d];
  }
  return true;
}

/// One float for each channel of (n, channels, places).
bool is_per_channel(const Pointwise& call, int i, int64_t channels, int64_t places) {
  const PointwiseOperand& in = call.in[i];
  if (!in.data || in.dtype != DType::Float32) return false;
  int64_t behind = 1;
  for (int d = call.ndim - 1; d >= 0; --d) {
    if (in.strides[d] != 0) {
      if (in.strides[d] != 1 || behind != places || call.sizes[d] != channels) return false;
      return std::all_of(in.strides, in.strides + d, [](int64_t stride) { return stride == 0; });
    }
    behind *= call.sizes[d];
  }
  return false;
}

/// Follows what happens to a convolution's result.
class Follower {
 public:
  /// `taken`: nodes that belong to another convolution already.
  Follower(const Flow& flow, const std::vector<bool>& taken, FusedConvolution& fused) : flow_(flow), taken_(taken), fused_(fused) {}

  void follow() {
    while (const PointwiseCall* const next = only_reader()) {
      const Pointwise& call = next->argument<0>();
      if (call.compute != DType::Float32 || call.out_dtype != DType::Float32) return;
      const Node& node = flow_.nodes[static_cast<size_t>(reader_)];
      const Use* const to = Flow::use_of(node, call.out, Touch::Written);
      if (!to || to->block < 0 || !block(to->block).plain || to->block == fused_.out) return;
      if (!(is_scale_and_shift(call, node) || is_sum(call, node) || is_relu(call))) return;
      fused_.nodes.push_back(reader_);
      fused_.out = to->block;
    }
  }

 private:
  [[nodiscard]] const BlockFlow& block(int b) const { return flow_.blocks[static_cast<size_t>(b)]; }
  [[nodiscard]] const void* now() const { return flow_.memory[static_cast<size_t>(fused_.out)]->data; }

  /// The call that alone reads what there is so far, where it works element by element.
  const PointwiseCall* only_reader() {
    if (fused_.sizes.relu || fused_.out == flow_.result || block(fused_.out).readers.size() != 1) return nullptr;
    reader_ = block(fused_.out).readers[0];
    if (taken_[static_cast<size_t>(reader_)]) return nullptr;
    return dynamic_cast<const PointwiseCall*>(flow_.nodes[static_cast<size_t>(reader_)].call.get());
  }

  bool is_scale_and_shift(const Pointwise& call, const Node& node) {
    if (call.op != PointwiseOp::addcmul || fused_.scale || fused_.added) return false;
    const int64_t channels = fused_.sizes.out_channels, places = fused_.sizes.out[0] * fused_.sizes.out[1];
    for (const auto& [x, factor] : {std::pair(1, 2), std::pair(2, 1)}) {
      if (call.in[x].data != now() || !is_dense(call, x) || !is_per_channel(call, factor, channels, places) ||
          !is_per_channel(call, 0, channels, places) || call.in[3].data || call.in[3].value.to<double>() != 1 ||
          !flow_.is_constant(node, call.in[factor].data) || !flow_.is_constant(node, call.in[0].data))
        continue;
      fused_.scale = static_cast<const float*>(call.in[factor].data);
      fused_.shift = static_cast<const float*>(call.in[0].data);
      return true;
    }
    return false;
  }

  bool is_sum(const Pointwise& call, const Node& node) {
    if (call.op != PointwiseOp::add || fused_.added || !is_dense(call, 0) || !is_dense(call, 1)) return false;
    const void* const other = call.in[call.in[0].data == now() ? 1 : 0].data;
    const Use* const use = Flow::use_of(node, other);
    if (other == now() || !use || (use->block != Use::kInput && (use->block < 0 || !block(use->block).plain))) return false;
    fused_.added = use;
    fused_.sizes.adds = true;
    return true;
  }

  bool is_relu(const Pointwise& call) {
    if (call.op != PointwiseOp::relu || !is_dense(call, 0)) return false;
    fused_.sizes.relu = true;
    return true;
  }

  const Flow& flow_;
  const std::vector<bool>& taken_;
  FusedConvolution& fused_;
  int reader_ = -1;
};

/// Whether somebody writes to what `use` reads between two nodes.
bool changes_between(const Flow& flow, const Use& use, int first, int last) {
  if (use.block < 0) return false;
  const std::vector<int>& writers = flow.blocks[static_cast<size_t>(use.block)].writers;
  return std::any_of(writers.begin(), writers.end(), [&](int at) { return at > first && at <= last; });
}

}  // namespace

std::vector<FusedConvolution> fused_convolutions(const Flow& flow, const std::vector<int>& not_these) {
  std::vector<FusedConvolution> found;
  std::vector<bool> taken(flow.nodes.size());
  for (size_t i = 0; i < flow.nodes.size(); ++i) {
    const Node& node = flow.nodes[i];
    const auto* const call = dynamic_cast<const ConvolutionCall*>(node.call.get());
    if (!call || std::find(not_these.begin(), not_these.end(), static_cast<int>(i)) != not_these.end()) continue;
    const View out = call->argument<0>(), in = call->argument<1>(), weight = call->argument<2>(), bias = call->argument<3>();
    const int64_t groups = call->argument<5>(), block = kernels::cpu::channel_block();
    const auto windows = flat(call->argument<4>(), in, out);
    const Use *const to = Flow::use_of(node, out.data, Touch::Written), *const from = Flow::use_of(node, in.data);
    const bool suits = out.dtype == DType::Float32 && windows && block > 0 && to && from && to->block >= 0 &&
                       flow.blocks[static_cast<size_t>(to->block)].plain && flow.is_constant(node, weight.data) &&
                       (!bias.data || flow.is_constant(node, bias.data)) &&
                       (groups == 1 || (groups == in.sizes[1] && groups == out.sizes[1] && groups % block == 0));
    if (!suits) continue;
    FusedConvolution fused;
    fused.nodes = {static_cast<int>(i)};
    fused.sizes = {.n = in.sizes[0],
                   .in_channels = in.sizes[1],
                   .out_channels = out.sizes[1],
                   .groups = groups,
                   .in = {in.sizes[3], in.sizes[4]},
                   .out = {out.sizes[3], out.sizes[4]},
                   .windows = *windows};
    fused.in = from;
    fused.out = to->block;
    fused.weight = weight.as<const float>();
    fused.bias = bias.as<const float>();
    Follower(flow, taken, fused).follow();
    if (changes_between(flow, *from, fused.nodes[0], fused.nodes.back())) continue;
    for (const int n : fused.nodes) taken[static_cast<size_t>(n)] = true;
    found.push_back(std::move(fused));
  }
  return found;
}

std::vector<FusedPool> fused_pools(const Flow& flow, const std::vector<int>& not_these) {
  std::vector<FusedPool> found;
  for (size_t i = 0; i < flow.nodes.size(); ++i) {
    const Node& node = flow.nodes[i];
    const auto* const call = dynamic_cast<const MaxPoolCall*>(node.call.get());
    if (!call || std::find(not_these.begin(), not_these.end(), static_cast<int>(i)) != not_these.end()) continue;
    const View out = call->argument<0>(), indices = call->argument<1>(), in = call->argument<2>();
    const kernels::Pooling pooling = call->argument<3>();
    const auto windows = flat(pooling.windows, in, out);
    const Use *const to = Flow::use_of(node, out.data, Touch::Written), *const from = Flow::use_of(node, in.data);
    if (out.dtype != DType::Float32 || indices.data || pooling.adaptive || !windows || !to || !from || to->block < 0 || from->block < 0 ||
        !flow.blocks[static_cast<size_t>(to->block)].plain)
      continue;
    FusedPool pool;
    pool.node = static_cast<int>(i);
    pool.sizes = {.n = in.sizes[0],
                  .channels = in.sizes[1],
                  .in = {in.sizes[3], in.sizes[4]},
                  .out = {out.sizes[3], out.sizes[4]},
                  .windows = *windows};
    pool.in = from;
    pool.out = to->block;
    found.push_back(pool);
  }
  return found;
}

}  // namespace tandem::compiling
