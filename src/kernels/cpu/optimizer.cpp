// Optimizer steps and gradient clipping: one pass over all parameters, laid end to end and shared out in pieces of fixed size, so that a
// model of many small parameters costs one parallel region. Half types are computed in float, by way of a first-cache buffer.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPiece = 8192;
constexpr int64_t kBuffer = 1024;

int64_t size(const View& x) { return x.numel(); }
template <OptimizerParameter P>
int64_t size(const P& p) {
  return p.numel;
}

/// Calls `f(item, begin, end)` for the parts of the items that fall into [from, to) of all items laid end to end.
template <class Item, class F>
void for_range(const Span<Item>& items, int64_t from, int64_t to, F f) {
  int64_t start = 0;
  for (const Item& item : items) {
    const int64_t n = size(item);
    const int64_t begin = std::max(from - start, int64_t{0}), end = std::min(to - start, n);
    if (begin < end) f(item, begin, end);
    start += n;
    if (start >= to) return;
  }
}

template <class Item>
int64_t total(const Span<Item>& items) {
  int64_t n = 0;
  for (const Item& item : items) n += size(item);
  return n;
}

template <class Item, class F>
void for_pieces(const Queue& queue, const Span<Item>& items, F f) {
  parallel_for(total(items), kPiece, queue.threads, [&](int64_t from, int64_t to) { for_range(items, from, to, f); });
}

char* at(void* data, DType dtype, int64_t i) {
  return data ? static_cast<char*>(data) + i * static_cast<int64_t>(size_of(dtype)) : nullptr;
}

/// Runs f on float copies of up to five arrays of a half type, piece by piece; those that `written` names are converted back.
template <int arrays, class F>
void through_float(DType dtype, void* const (&data)[arrays], const bool (&written)[arrays], int64_t begin, int64_t end, F f) {
  alignas(64) float buffers[arrays][kBuffer];
  for (int64_t i = begin; i < end; i += kBuffer) {
    const int64_t n = std::min(kBuffer, end - i);
    float* floats[arrays];
    for (int k = 0; k < arrays; ++k) {
      floats[k] = data[k] ? buffers[k] : nullptr;
      if (data[k]) isa().conversions.pack_to(kComputeFloat, dtype)(buffers[k], at(data[k], dtype, i), 1, n);
    }
    f(floats, n);
    for (int k = 0; k < arrays; ++k)
      if (data[k] && written[k]) isa().conversions.unpack_from(kComputeFloat, dtype)(at(data[k], dtype, i), 1, buffers[k], n);
  }
}

bool is_native(DType dtype) { return dtype == kFloat32 || dtype == kFloat64; }

double squares(const View& x, int64_t begin, int64_t end) {
  if (is_native(x.dtype)) return isa().optimizers[x.dtype == kFloat64].sum_of_squares(at(x.data, x.dtype, begin), end - begin);
  double sum = 0;
  through_float<1>(x.dtype, {x.data}, {false}, begin, end,
                   [&](float* const* v, int64_t n) { sum += isa().optimizers[0].sum_of_squares(v[0], n); });
  return sum;
}

}  // namespace

void sgd(const Queue& queue, Span<SgdParameter> parameters, SgdSettings settings) {
  for_pieces(queue, parameters, [&](const SgdParameter& p, int64_t begin, int64_t end) {
    if (is_native(p.dtype))
      return isa().optimizers[p.dtype == kFloat64].sgd(at(p.parameter, p.dtype, begin), at(p.gradient, p.dtype, begin),
                                                       at(p.momentum, p.dtype, begin), end - begin, settings, p.first);
    through_float<3>(p.dtype, {p.parameter, p.gradient, p.momentum}, {true, false, true}, begin, end,
                     [&](float* const* v, int64_t n) { isa().optimizers[0].sgd(v[0], v[1], v[2], n, settings, p.first); });
  });
}

void adam(const Queue& queue, Span<AdamParameter> parameters, AdamSettings settings) {
  for_pieces(queue, parameters, [&](const AdamParameter& p, int64_t begin, int64_t end) {
    const auto t = static_cast<double>(p.step + (queue.replay ? queue.replay->steps : 0));
    const AdamStep step{.decay = settings.decoupled ? 1 - settings.lr * settings.weight_decay : 1,
                        .weight_decay = settings.decoupled ? 0 : settings.weight_decay,
                        .sign = settings.maximize ? -1.0 : 1.0,
                        .beta1 = settings.beta1,
                        .beta2 = settings.beta2,
                        .step_size = settings.lr / (1 - std::pow(settings.beta1, t)),
                        .bias_correction2_sqrt = std::sqrt(1 - std::pow(settings.beta2, t)),
                        .eps = settings.eps};
    if (is_native(p.dtype))
      return isa().optimizers[p.dtype == kFloat64].adam(at(p.parameter, p.dtype, begin), at(p.gradient, p.dtype, begin),
                                                        at(p.mean, p.dtype, begin), at(p.square, p.dtype, begin),
                                                        at(p.max_square, p.dtype, begin), end - begin, step);
    through_float<5>(p.dtype, {p.parameter, p.gradient, p.mean, p.square, p.max_square}, {true, false, true, true, true}, begin, end,
                     [&](float* const* v, int64_t n) { isa().optimizers[0].adam(v[0], v[1], v[2], v[3], v[4], n, step); });
  });
}

void optimizer_step(const Queue& queue, OptimizerStep step, Span<StepParameter> parameters) {
  for_pieces(queue, parameters, [&](const StepParameter& p, int64_t begin, int64_t end) {
    void* const data[] = {p.parameter, p.gradient, p.state[0], p.state[1], p.state[2]};
    if (!is_native(p.dtype))
      return through_float<5>(p.dtype, data, {true, false, true, true, true}, begin, end, [&](float* const* v, int64_t n) {
        void* const floats[] = {v[0], v[1], v[2], v[3], v[4]};
        isa().optimizers[0].step(step, floats, n, p);
      });
    void* from[5];
    for (int k = 0; k < 5; ++k) from[k] = at(data[k], p.dtype, begin);
    isa().optimizers[p.dtype == kFloat64].step(step, from, end - begin, p);
  });
}

size_t total_norm_workspace(const Span<View>& /*tensors*/) { return 0; }

void total_norm(const Queue& queue, Out out, Span<View> tensors, void* /*workspace*/) {
  // Partial sums of pieces that only the number of elements decides, added in order: the same for any number of threads.
  constexpr int64_t kMaxPieces = 256;
  double sums[kMaxPieces];
  const int64_t n = total(tensors), piece = std::max(kPiece, (n + kMaxPieces - 1) / kMaxPieces);
  parallel_for(n, piece, queue.threads, [&](int64_t from, int64_t to) {
    double sum = 0;
    for_range(tensors, from, to, [&](const View& x, int64_t begin, int64_t end) { sum += squares(x, begin, end); });
    sums[from / piece] = sum;
  });
  double sum = 0;
  for (int64_t i = 0; i * piece < n; ++i) sum += sums[i];
  *out.as<float>() = static_cast<float>(std::sqrt(sum));
}

void clip(const Queue& queue, Span<Change> tensors, View norm, double max_norm) {
  const double factor = max_norm / (static_cast<double>(*norm.as<float>()) + 1e-6);
  if (factor >= 1) return;  // a factor of nan does multiply them
  for_pieces(queue, tensors, [&](const View& x, int64_t begin, int64_t end) {
    if (is_native(x.dtype)) return isa().optimizers[x.dtype == kFloat64].scale(at(x.data, x.dtype, begin), end - begin, factor);
    through_float<1>(x.dtype, {x.data}, {true}, begin, end,
                     [&](float* const* v, int64_t n) { isa().optimizers[0].scale(v[0], n, factor); });
  });
}

}  // namespace tandem::kernels::cpu
