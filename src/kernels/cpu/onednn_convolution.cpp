#include "kernels/cpu/onednn_convolution.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/align.h"
#include "kernels/cpu/onednn_cache.h"
#include "kernels/cpu/onednn_step.h"

namespace tandem::kernels::cpu {
namespace {

struct Hash {
  size_t operator()(const DnnlConvolution& c) const {
    int64_t numbers[sizeof c / sizeof(int64_t)];
    std::memcpy(numbers, &c, sizeof c);
    uint64_t h = 0;
    for (const int64_t x : numbers) h = (h ^ static_cast<uint64_t>(x)) * 0x9E3779B97F4A7C15ULL;
    return h ^ h >> 32;
  }
};

class Convolution {
 public:
  static constexpr size_t kBytes = size_t{128} << 10;  // mostly code
  struct Arguments {
    static constexpr size_t kBytes = size_t{16} << 10;
    explicit Arguments(const Convolution& of)
        : main(of.main_),
          reorder_a(of.reorder_a_),
          reorder_b(of.reorder_b_),
          reorder_result(of.reorder_result_),
          reorder_weight(of.reorder_weight_) {}
    DnnlStep::Arguments main, reorder_a, reorder_b, reorder_result, reorder_weight;
  };

  /// `weight`: the layout that it must have, or nullptr for oneDNN's choice.
  explicit Convolution(const DnnlConvolution& c, const DnnlLayout* weight = nullptr) {
    const SingleOpenMp single;
    build(c, weight);
    bytes_.supported = status_ == dnnl_success && worth_it_;
  }

  [[nodiscard]] const DnnlConvolutionBytes& bytes() const { return bytes_; }
  [[nodiscard]] const DnnlLayout& weight_layout() const { return weight_; }

  int reorder_weight(Arguments& on, void* to, const void* from) const { return reorder_weight_.run(on.reorder_weight, {from, to}); }

  int run(Arguments& on, bool gradient_of_weight, void* to, const void* a, const void* b, const void* bias, void* scratch) const {
    char* free = static_cast<char*>(scratch);
    const auto take = [&free](size_t bytes) {
      char* const mine = free;
      free += align_up(bytes);
      return mine;
    };
    const void *first = a, *second = b;
    void* result = to;
    int status = 0;
    if (reorder_a_.made()) {
      void* const laid = take(a_bytes_);
      status = reorder_a_.run(on.reorder_a, {a, laid});
      first = laid;
    }
    if (status == 0 && reorder_b_.made()) {
      void* const laid = take(b_bytes_);
      status = reorder_b_.run(on.reorder_b, {b, laid});
      second = laid;
    }
    if (reorder_result_.made()) result = take(result_bytes_);
    if (status == 0)
      status = gradient_of_weight || !has_bias_ ? main_.run(on.main, {result, first, second, free})
                                                : main_.run(on.main, {result, first, second, free, bias});
    if (status == 0 && reorder_result_.made()) status = reorder_result_.run(on.reorder_result, {result, to});
    return status;
  }

 private:
  bool good(dnnl_status_t status) {
    if (status_ == dnnl_success) status_ = status;
    return status_ == dnnl_success;
  }

  void build(const DnnlConvolution& c, const DnnlLayout* given) {
    const auto part = static_cast<ConvolutionPart>(c.part);
    const dnnl_data_type_t type = c.bfloat16 ? dnnl_bf16 : dnnl_f32;
    // Two spatial dimensions, or three where the first is used.
    const bool deep = c.in[0] != 1 || c.kernel[0] != 1 || c.out[0] != 1 || c.padding[0] != 0;
    const int skip = deep ? 0 : 1, spatial = 3 - skip;
    DnnlWindow window;
    for (int d = 0; d < spatial; ++d) {
      const int i = d + skip;
      window.strides[d] = c.stride[i];
      window.dilations[d] = c.dilation[i] - 1;
      window.before[d] = c.padding[i];
      const int64_t reach = c.dilation[i] * (c.kernel[i] - 1) + 1;
      const bool even = (c.in[i] + 2 * c.padding[i] - reach) / c.stride[i] + 1 == c.out[i];
      window.behind[d] = even ? c.padding[i] : (c.out[i] - 1) * c.stride[i] + reach - c.in[i] - c.padding[i];
    }
    dnnl_dims_t in_dims = {c.n, c.ic}, out_dims = {c.n, c.oc};
    std::copy(c.in + skip, c.in + 3, in_dims + 2);
    std::copy(c.out + skip, c.out + 3, out_dims + 2);
    // Channels that fill few of oneDNN's blocks of 16 are computed for nothing; channels last, there are none behind them.
    const auto filled = [](int64_t channels) { return (channels + 15) / 16 * 16; };
    const bool channels_last = !c.bfloat16 && c.groups == 1 && c.ic > 3 && 4 * filled(c.ic) * filled(c.oc) > 5 * c.ic * c.oc;
    const auto image = [&](const dnnl_dims_t& dims, int64_t batch, DnnlLayout& own, DnnlLayout& any) {
      dnnl_dims_t by;
      int64_t stride = 1;
      for (int d = spatial + 1; d >= 1; --d) {
        by[d] = stride;
        stride *= dims[d];
      }
      by[0] = batch;
      good(own.set_strides(spatial + 2, dims, type, by));
      good(any.set_tag(spatial + 2, dims, type, channels_last ? deep ? dnnl_ndhwc : dnnl_nhwc : dnnl_format_tag_any));
    };
    DnnlLayout in, any_in, out, any_out, weight, any_weight, hint_weight, bias;
    image(in_dims, c.in_batch, in, any_in);
    image(out_dims, c.out_batch, out, any_out);
    {
      dnnl_dims_t dims = {c.groups, c.oc / c.groups, c.ic / c.groups}, by;
      int ndims = 3;
      for (int d = 0; d < spatial; ++d) dims[ndims++] = c.kernel[skip + d];
      int64_t stride = 1;
      for (int d = ndims - 1; d >= 2; --d) {
        by[d] = stride;
        stride *= dims[d];
      }
      by[1] = c.weight_row;
      by[0] = dims[1] * c.weight_row;
      const int from = c.groups == 1 ? 1 : 0;
      good(weight.set_strides(ndims - from, dims + from, type, by + from));
      if (given) any_weight = *given;
      else good(any_weight.set_tag(ndims - from, dims + from, part == ConvolutionPart::Weight ? dnnl_f32 : type, dnnl_format_tag_any));
      // The gradients ask for a forward one as a hint; the weight's type is then the data's.
      if (part == ConvolutionPart::Forward) hint_weight = any_weight;
      else good(hint_weight.set_tag(ndims - from, dims + from, type, dnnl_format_tag_any));
    }
    has_bias_ = c.bias != 0;
    const dnnl_dims_t bias_dims = {c.oc};
    if (has_bias_) good(bias.set_tag(1, bias_dims, type, dnnl_a));
    if (status_ != dnnl_success) return;

    dnnl_primitive_attr_t attributes = nullptr;
    dnnl_primitive_desc_t forward = nullptr, backward = nullptr;
    good(dnnl_primitive_attr_create(&attributes));
    good(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user));
    const bool training = part != ConvolutionPart::Forward;
    const auto make_forward = [&](const DnnlLayout& from, const DnnlLayout& to) {
      return dnnl_describe_convolution(forward, training ? dnnl_forward_training : dnnl_forward_inference, to, from, hint_weight,
                                       has_bias_ ? &bias : nullptr, window, attributes);
    };
    // Left alone oneDNN takes channels last, which it reorders from and to three times slower than blocks of 16 channels.
    const bool blocks = part == ConvolutionPart::Forward && c.groups == 1 && !c.bfloat16 && c.oc % 16 == 0 && (c.ic % 16 == 0 || c.ic <= 3);
    if (blocks) {
      const dnnl_format_tag_t plain = deep ? dnnl_abcde : dnnl_abcd, blocked = deep ? dnnl_aBcde16b : dnnl_aBcd16b;
      DnnlLayout laid_in, laid_out;
      good(laid_in.set_tag(spatial + 2, in_dims, type, c.ic > 3 ? blocked : plain));
      good(laid_out.set_tag(spatial + 2, out_dims, type, blocked));
      if (make_forward(laid_in, laid_out) == dnnl_success && std::strncmp(dnnl_code_name(forward), "jit", 3) != 0) {
        dnnl_primitive_desc_destroy(forward);
        forward = nullptr;
      }
    }
    if (!forward) good(make_forward(any_in, any_out));
    const_dnnl_primitive_desc_t chosen = forward;
    if (part != ConvolutionPart::Forward && status_ == dnnl_success) {
      good(part == ConvolutionPart::Input
               ? dnnl_describe_input_gradient(backward, any_in, any_out, any_weight, window, forward, attributes)
               : dnnl_describe_weight_gradient(backward, any_weight, any_in, any_out, window, forward, attributes));
      chosen = backward;
    }
    if (status_ == dnnl_success) assemble(part, chosen, attributes, in, out, weight, bias);
    dnnl_primitive_desc_destroy(backward);
    dnnl_primitive_desc_destroy(forward);
    dnnl_primitive_attr_destroy(attributes);
  }

  void assemble(ConvolutionPart part, const_dnnl_primitive_desc_t chosen, const_dnnl_primitive_attr_t attributes, const DnnlLayout& in,
                const DnnlLayout& out, const DnnlLayout& weight, const DnnlLayout& bias) {
    worth_it_ = std::strncmp(dnnl_code_name(chosen), "ref", 3) != 0;  // plain loops: ours are better
    const auto layout = [&](dnnl_query_t what) { return DnnlLayout::of(chosen, what); };
    const DnnlLayout scratch = layout(dnnl_query_scratchpad_md);
    good(main_.make(chosen));
    DnnlLayout a, b, result;
    switch (part) {
      case ConvolutionPart::Forward:
        a = layout(dnnl_query_src_md);
        weight_ = layout(dnnl_query_weights_md);
        result = layout(dnnl_query_dst_md);
        main_.add(DNNL_ARG_DST, result);
        main_.add(DNNL_ARG_SRC, a);
        main_.add(DNNL_ARG_WEIGHTS, weight_);
        make_reorder(reorder_a_, in, a, attributes);
        make_reorder(reorder_result_, result, out, attributes);
        break;
      case ConvolutionPart::Input:
        a = layout(dnnl_query_diff_dst_md);
        weight_ = layout(dnnl_query_weights_md);
        result = layout(dnnl_query_diff_src_md);
        main_.add(DNNL_ARG_DIFF_SRC, result);
        main_.add(DNNL_ARG_DIFF_DST, a);
        main_.add(DNNL_ARG_WEIGHTS, weight_);
        make_reorder(reorder_a_, out, a, attributes);
        make_reorder(reorder_result_, result, in, attributes);
        break;
      default:
        a = layout(dnnl_query_src_md);
        b = layout(dnnl_query_diff_dst_md);
        result = weight_ = layout(dnnl_query_diff_weights_md);
        main_.add(DNNL_ARG_DIFF_WEIGHTS, result);
        main_.add(DNNL_ARG_SRC, a);
        main_.add(DNNL_ARG_DIFF_DST, b);
        make_reorder(reorder_a_, in, a, attributes);
        make_reorder(reorder_b_, out, b, attributes);
        break;
    }
    main_.add(DNNL_ARG_SCRATCHPAD, scratch);
    if (has_bias_ && part == ConvolutionPart::Forward) main_.add(DNNL_ARG_BIAS, bias);
    const bool gradient = part == ConvolutionPart::Weight;
    make_reorder(reorder_weight_, gradient ? weight_ : weight, gradient ? weight : weight_, attributes, true);
    a_bytes_ = a.bytes();
    b_bytes_ = gradient ? b.bytes() : 0;
    result_bytes_ = result.bytes();
    bytes_.weight = align_up(weight_.bytes());
    bytes_.scratch = (reorder_a_.made() ? align_up(a_bytes_) : 0) + (reorder_b_.made() ? align_up(b_bytes_) : 0) +
                     (reorder_result_.made() ? align_up(result_bytes_) : 0) + align_up(scratch.bytes());
  }

  void make_reorder(DnnlStep& step, const DnnlLayout& from, const DnnlLayout& to, const_dnnl_primitive_attr_t attributes,
                    bool always = false) {
    if (always || !(from == to)) good(step.make_reorder(from, to, attributes));
  }

  dnnl_status_t status_ = dnnl_success;
  bool worth_it_ = false, has_bias_ = false;
  DnnlConvolutionBytes bytes_{};
  DnnlLayout weight_;
  size_t a_bytes_ = 0, b_bytes_ = 0, result_bytes_ = 0;
  DnnlStep main_, reorder_a_, reorder_b_, reorder_result_, reorder_weight_;
};

using Convolutions = PrimitiveCache<DnnlConvolution, Convolution, Hash>;

Convolutions::Lease& lease_of(const DnnlConvolution& c) {
  static auto* const convolutions = new Convolutions;
  if (Convolutions::Lease* const known = convolutions->find(c)) return *known;
  if (c.whole == c.n) return convolutions->make(c);
  DnnlConvolution whole = c;
  whole.n = c.whole;
  const DnnlLayout layout = lease_of(whole).made().weight_layout();
  return convolutions->make(c, &layout);
}

}  // namespace

DnnlConvolutionBytes dnnl_convolution_bytes(const DnnlConvolution& c) try {
  return lease_of(c).made().bytes();
} catch (const std::bad_alloc&) {
  return {};
}

int dnnl_reorder_weight(const DnnlConvolution& c, void* to, const void* from) try {
  const Convolutions::Lease& lease = lease_of(c);
  return lease.made().reorder_weight(lease.arguments(), to, from);
} catch (const std::bad_alloc&) {
  return dnnl_out_of_memory;
}

int dnnl_convolve(const DnnlConvolution& c, void* to, const void* a, const void* b, const void* bias, void* scratch) try {
  const Convolutions::Lease& lease = lease_of(c);
  return lease.made().run(lease.arguments(), c.part == static_cast<int64_t>(ConvolutionPart::Weight), to, a, b, bias, scratch);
} catch (const std::bad_alloc&) {
  return dnnl_out_of_memory;
}

}  // namespace tandem::kernels::cpu
