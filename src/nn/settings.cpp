// What each layer was made with, beside its tensors and parts. Layers that are templates have theirs beside them.
#include "nn/settings.h"

#include <algorithm>
#include <mutex>

#include "comm/api/distributed.h"
#include "nn/nn.h"
#include "process/signature.h"

namespace tandem::nn {
namespace {

void send(Settings& s, const std::string& layer, Activation& activation) {
  std::string name = activation.name();
  if (name.empty() && !s.taking())
    fail('[', s.op(), "] the activation of a ", layer,
         " is a function or module of its own, which cannot be sent to another process: ", "give it as \"relu\" or \"gelu\"");
  s(name);
  if (s.taking()) activation = Activation(name.c_str());
}

}  // namespace

namespace detail {
namespace {
struct Makers {
  std::mutex mutex;
  std::vector<const Maker*> all;
};
Makers& makers() {
  static auto* the_makers = new Makers;  // not destroyed: libraries may be unloaded later
  return *the_makers;
}
}  // namespace

Maker::Maker(AnyModule (*function)()) : make(function) {
  const std::lock_guard lock(makers().mutex);
  makers().all.push_back(this);
}

Maker::~Maker() {
  const std::lock_guard lock(makers().mutex);
  std::erase(makers().all, this);
}

bool Maker::is_known(AnyModule (*function)()) {
  const std::lock_guard lock(makers().mutex);
  return std::any_of(makers().all.begin(), makers().all.end(), [&](const Maker* maker) { return maker->make == function; });
}
}  // namespace detail

bool Settings::describe(ModuleBase& module) {
  described_ = true;
  module.settings(*this);
  return std::exchange(described_, true);
}

void Settings::one(AnyModule& module) {
  using MakeFunction = AnyModule (*)();
  if (taking()) {
    module = AnyModule();
    if (!multiprocessing::Codec<bool>::take(*received_)) return;
    const auto make = multiprocessing::Codec<MakeFunction>::take(*received_);
    if (!detail::Maker::is_known(make)) multiprocessing::detail::refuse(op(), "it names a function that makes no module");
    module = make();
    return;
  }
  multiprocessing::Codec<bool>::put(*parcel_, static_cast<bool>(module));
  if (!module) return;
  const MakeFunction maker = module.maker();
  if (!maker)
    fail('[', op(), "] a module of type ", module.base().name(),
         " cannot be sent to another process, where it would have to be made: give it a default constructor, or override settings()");
  multiprocessing::Codec<MakeFunction>::put(*parcel_, maker);
}

void Settings::one(Scalar& number) {
  Scalar::Kind kind = number.kind();
  int64_t integer = number.is_floating() ? 0 : number.to<int64_t>();
  auto floating = number.to<double>();
  (*this)(kind, integer, floating);
  if (taking())
    number = kind == Scalar::Kind::Floating ? Scalar(floating) : kind == Scalar::Kind::Bool ? Scalar(integer != 0) : Scalar(integer);
}

void Settings::one(Options& options) {
  bool has_dtype = options.dtype.has_value(), has_device = options.device.has_value();
  DType dtype = options.dtype.value_or(kFloat32);
  Device device = options.device.value_or(Device());
  (*this)(has_dtype, dtype, has_device, device, options.requires_grad, options.pin_memory);
  if (!taking()) return;
  options.dtype = has_dtype ? std::optional(dtype) : std::nullopt;
  options.device = has_device ? std::optional(device) : std::nullopt;
}

// --- Activations
void InplaceActivation::settings(Settings& s) { s(inplace); }
void Hardsigmoid::settings(Settings& s) { s(inplace); }
void Hardswish::settings(Settings& s) { s(inplace); }
void ELU::settings(Settings& s) { s(alpha, inplace); }
void CELU::settings(Settings& s) { s(alpha, inplace); }
void GELU::settings(Settings& s) { s(approximate); }
void GLU::settings(Settings& s) { s(dim); }
void Hardshrink::settings(Settings& s) { s(lambd); }
void Softshrink::settings(Settings& s) { s(lambd); }
void Hardtanh::settings(Settings& s) { s(min_val, max_val, inplace); }
void LeakyReLU::settings(Settings& s) { s(negative_slope, inplace); }
void PReLU::settings(Settings&) {}
void RReLU::settings(Settings& s) { s(lower, upper, inplace); }
void Softplus::settings(Settings& s) { s(beta, threshold); }
void Threshold::settings(Settings& s) { s(threshold, value, inplace); }
void detail::AlongDim::settings(Settings& s) { s(dim); }

// --- Products, tables and convolutions
void Linear::settings(Settings&) {}
void LazyLinear::settings(Settings& s) { s(out_features_, has_bias_, placement_); }
void Bilinear::settings(Settings&) {}
void AdaptiveLogSoftmaxWithLoss::settings(Settings& s) { s(cutoffs, tail); }
void Embedding::settings(Settings& s) { s(padding_idx, max_norm, norm_type, scale_grad_by_freq); }
void EmbeddingBag::settings(Settings& s) {
  s(options.max_norm, options.norm_type, options.scale_grad_by_freq, options.mode, options.include_last_offset, options.padding_idx);
}
void ConvNd::settings(Settings& s) {
  s(kernel_size, stride, padding, dilation, output_padding, groups, out_channels_, lazy_, has_bias_, placement_);
}

// --- Normalization and dropout
void NormBase::settings(Settings& s) {
  bool across_ranks = sync_group != nullptr;
  if (across_ranks && sync_group->group())
    fail('[', s.op(), "] a SyncBatchNorm of some of the ranks cannot be sent to another process, which is in no such group: send one of ",
         "all ranks, and convert it there (nn::convert_sync_batchnorm)");
  s(eps, momentum, num_features_, lazy_, affine_, track_, has_bias_, placement_, across_ranks);
  if (s.taking()) sync_group = across_ranks ? std::make_shared<const distributed::ProcessGroup>() : nullptr;
}
void LayerNorm::settings(Settings& s) { s(normalized_shape, eps); }
void GroupNorm::settings(Settings& s) { s(num_groups, num_channels, eps); }
void RMSNorm::settings(Settings& s) { s(normalized_shape, eps); }
void LocalResponseNorm::settings(Settings& s) { s(size, alpha, beta, k); }
void DropoutBase::settings(Settings& s) { s(p, inplace); }

// --- Recurrent networks and attention
void detail::RecurrentBase::settings(Settings& s) {
  auto count = static_cast<uint64_t>(weights.size());
  s(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, count);
  if (!s.taking()) return;
  const int64_t each = 2 + (bias ? 2 : 0) + (proj_size ? 1 : 0);
  int64_t parts = 0;
  if (__builtin_mul_overflow(num_layers, bidirectional ? 2 * each : each, &parts) || parts < 0 || static_cast<uint64_t>(parts) != count ||
      count > (uint64_t{1} << 20))
    multiprocessing::detail::refuse(s.op(), str(num_layers, " recurrent layers of ", count, " tensors"));
  weights.resize(count);
}
void detail::RecurrentCell::settings(Settings& s) { s(input_size, hidden_size); }
void RNNCell::settings(Settings& s) {
  RecurrentCell::settings(s);
  s(nonlinearity);
}
void MultiheadAttention::settings(Settings& s) { s(embed_dim, num_heads, kdim, vdim, dropout, add_zero_attn, batch_first); }
void TransformerEncoderLayer::settings(Settings& s) {
  send(s, name(), activation);
  s(norm_first);
}
void TransformerDecoderLayer::settings(Settings& s) {
  send(s, name(), activation);
  s(norm_first);
}
void TransformerEncoder::settings(Settings& s) { s(norm); }
void TransformerDecoder::settings(Settings& s) { s(norm); }
void Transformer::settings(Settings& s) { s(d_model, nhead, batch_first); }

// --- What moves elements about, and measures
void Flatten::settings(Settings& s) { s(start_dim, end_dim); }
void Unflatten::settings(Settings& s) { s(dim, unflattened_size); }
void PixelShuffle::settings(Settings& s) { s(upscale_factor); }
void PixelUnshuffle::settings(Settings& s) { s(downscale_factor); }
void ChannelShuffle::settings(Settings& s) { s(groups); }
void Unfold::settings(Settings& s) { s(kernel_size, options.dilation, options.padding, options.stride); }
void Fold::settings(Settings& s) { s(output_size, kernel_size, options.dilation, options.padding, options.stride); }
void PadNd::settings(Settings& s) { s(padding); }
void Upsample::settings(Settings& s) {
  s(options.size, options.scale_factor, options.mode, options.align_corners, options.recompute_scale_factor, options.antialias);
}
void CosineSimilarity::settings(Settings& s) { s(dim, eps); }
void PairwiseDistance::settings(Settings& s) { s(p, eps, keepdim); }
void TripletMarginWithDistanceLoss::settings(Settings& s) {
  const AnyModule& distance = options.distance_function.module();
  if (!distance || !dynamic_cast<const PairwiseDistance*>(&distance.base()))
    fail('[', s.op(), "] a TripletMarginWithDistanceLoss with a distance of its own cannot be sent to another process: make it there");
  s(options.margin, options.swap, options.reduction);
}
void CTCLoss::settings(Settings& s) { s(options); }

// --- Containers
void ModuleList::settings(Settings& s) { s(items_); }
void ModuleDict::settings(Settings& s) { s(items_); }
void ParameterList::settings(Settings& s) {
  auto count = static_cast<uint64_t>(items_.size());
  s(count);
  if (!s.taking()) return;
  if (count > (uint64_t{1} << 20)) multiprocessing::detail::refuse(s.op(), str("a list of ", count, " parameters"));
  items_.resize(count);
}
void ParameterDict::settings(Settings& s) {
  std::vector<std::string> names = keys();
  s(names);
  if (!s.taking()) return;
  items_.clear();
  for (const std::string& name : names) items_.emplace_back(name, Tensor());
}
void Sequential::settings(Settings& s) {
  std::vector<AnyModule> modules;
  for (const Child& child : children_) modules.push_back(child.module);
  s(modules);
  if (!s.taking()) return;
  children_.clear();
  for (AnyModule& module : modules) push_back(std::move(module), Site::none());
}

}  // namespace tandem::nn
