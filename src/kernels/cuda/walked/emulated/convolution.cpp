#include "kernels/cuda/walked/emulated/convolution.h"

#include <algorithm>
#include <array>

#include "base/dtype.h"
#include "base/error.h"

namespace tandem::kernels::cuda::emulated {
namespace {

constexpr size_t kSpatial = 3;

/// A number for each of three spatial dimensions: the last of `numbers`, after `missing` for those that it lacks.
std::array<int64_t, kSpatial> spatial(const std::vector<int64_t>& numbers, size_t skipped, int64_t missing) {
  std::array<int64_t, kSpatial> all;
  all.fill(missing);
  std::copy(numbers.begin() + static_cast<int64_t>(skipped), numbers.end(), all.end() - static_cast<int64_t>(numbers.size() - skipped));
  return all;
}

/// Calls f(index) for each index below `counts`, the last dimension fastest.
template <size_t N, class F>
void for_each_index(const std::array<int64_t, N>& counts, F f) {
  if (std::find(counts.begin(), counts.end(), 0) != counts.end()) return;
  std::array<int64_t, N> index{};
  while (true) {
    f(index);
    size_t d = N;
    while (d > 0 && ++index[d - 1] == counts[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/// Calls f(data, weight, result) with the places of the factors of each term, and of the sum that it belongs to.
template <class F>
void for_each_term(const Convolution& c, F f) {
  const auto in = spatial(c.data.sizes, 2, 1), kernel = spatial(c.weight.sizes, 2, 1), out = spatial(c.result.sizes, 2, 1);
  const auto in_step = spatial(c.data.strides, 2, 0), kernel_step = spatial(c.weight.strides, 2, 0),
             out_step = spatial(c.result.strides, 2, 0);
  const auto padding = spatial(c.sliding.padding, 0, 0), stride = spatial(c.sliding.stride, 0, 1),
             dilation = spatial(c.sliding.dilation, 0, 1);
  const int64_t of_group = c.weight.sizes[1], groups = c.data.sizes[1] / of_group, made_by_group = c.result.sizes[1] / groups;
  const std::array<int64_t, 9> counts{c.result.sizes[0], c.result.sizes[1], out[0],    out[1],   out[2],
                                      of_group,          kernel[0],         kernel[1], kernel[2]};
  for_each_index(counts, [&](const std::array<int64_t, 9>& i) {
    const int64_t channel = i[1] / made_by_group * of_group + i[5];
    int64_t data = i[0] * c.data.strides[0] + channel * c.data.strides[1];
    int64_t weight = i[1] * c.weight.strides[0] + i[5] * c.weight.strides[1];
    int64_t result = i[0] * c.result.strides[0] + i[1] * c.result.strides[1];
    for (size_t d = 0; d < kSpatial; ++d) {
      const int64_t at = i[2 + d] * stride[d] + i[6 + d] * dilation[d] - padding[d];
      if (at < 0 || at >= in[d]) return;
      data += at * in_step[d];
      weight += i[6 + d] * kernel_step[d];
      result += i[2 + d] * out_step[d];
    }
    f(static_cast<size_t>(data), static_cast<size_t>(weight), static_cast<size_t>(result));
  });
}

/// A number in double; half types know only the way by float.
template <class T>
double wide(T x) {
  if constexpr (sizeof(T) == sizeof(double)) return x;
  else return static_cast<float>(x);
}
template <class T>
T narrow(double x) {
  if constexpr (sizeof(T) == sizeof(double)) return x;
  else return T(static_cast<float>(x));
}

template <class T>
void compute_as(const Convolution& c, T* data, T* weight, T* result) {
  const bool is_data = c.computed == Convolution::Computed::Data, is_weight = c.computed == Convolution::Computed::Weight;
  const Tensor& computed = is_data ? c.data : is_weight ? c.weight : c.result;
  T* const into = is_data ? data : is_weight ? weight : result;
  std::vector<double> sums(static_cast<size_t>(computed.sizes[0] * computed.strides[0]));
  for_each_term(c, [&](size_t in_data, size_t in_weight, size_t in_result) {
    if (is_data) sums.at(in_data) += wide(weight[in_weight]) * wide(result[in_result]);
    else if (is_weight) sums.at(in_weight) += wide(data[in_data]) * wide(result[in_result]);
    else sums.at(in_result) += wide(data[in_data]) * wide(weight[in_weight]);
  });
  for (size_t i = 0; i < sums.size(); ++i) into[i] = narrow<T>(c.alpha * sums[i] + (c.beta == 0 ? 0 : c.beta * wide(into[i])));
}

}  // namespace

bool leaves_results_out(const Convolution& c) {
  bool fewer = false;
  for (size_t d = 0; d < c.sliding.stride.size(); ++d) {
    const int64_t covered = c.sliding.dilation[d] * (c.weight.sizes.at(d + 2) - 1) + 1;
    const int64_t fit = (c.data.sizes.at(d + 2) + 2 * c.sliding.padding[d] - covered) / c.sliding.stride[d] + 1;
    if (c.result.sizes.at(d + 2) > fit) return false;
    fewer |= c.result.sizes[d + 2] < fit;
  }
  return fewer;
}

void compute(const Convolution& c, void* data, void* weight, void* result) {
  const auto as = [&](auto element) {
    using T = decltype(element);
    compute_as(c, static_cast<T*>(data), static_cast<T*>(weight), static_cast<T*>(result));
  };
  switch (c.data.type) {
    case CUDNN_DATA_HALF: return as(Half{});
    case CUDNN_DATA_BFLOAT16: return as(BFloat16{});
    case CUDNN_DATA_FLOAT: return as(float{});
    case CUDNN_DATA_DOUBLE: return as(double{});
    default:
      fail("[convolution] cuDNN's data type ", static_cast<int>(c.data.type), " is not emulated: half, bfloat16, float and double are");
  }
}

}  // namespace tandem::kernels::cuda::emulated
