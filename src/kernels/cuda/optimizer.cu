// Optimizer steps and gradient clipping. The parameters of one dtype are laid end to end in pieces, which groups take: a launch serves as
// many parameters as fit into a kernel's arguments, so a model of many small ones costs few launches. A thread has several elements on the
// way at a time, neighbours in a warp being neighbours in memory; each number is read and written once. Half types are computed in float.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int kTogether = 4;                          // elements that a thread has on the way
constexpr int64_t kPiece = 4 * kThreads * kTogether;  // elements of a piece

/// Up to `most` items with a `numel` each, cut into pieces.
template <class Item, int most>
struct Pieces {
  static constexpr int kMost = most;
  using Element = Item;
  Item items[most];
  int64_t end[most];  // the number of pieces up to and with each item
  int count = 0;

  [[nodiscard]] int64_t pieces() const { return count ? end[count - 1] : 0; }
  void add(const Item& item) {
    end[count] = pieces() + (item.numel + kPiece - 1) / kPiece;
    items[count++] = item;
  }
  /// The item that a piece belongs to, and the first of its elements.
  TD_DEVICE const Item& find(int64_t piece, int64_t& first) const {
    int low = 0, high = count - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (piece < end[middle]) high = middle;
      else low = middle + 1;
    }
    first = (piece - (low ? end[low - 1] : 0)) * kPiece;
    return items[low];
  }
};

/// Calls run(zero of the element type, pack) with items made of all that is listed, by dtype, and as many at a time as a pack holds.
template <class Pack, class Listed, class MakeItem, class Run>
void for_packs(const Span<Listed>& list, MakeItem&& item_of, Run&& run) {
  for (const DType dtype : {kFloat32, kFloat16, kBFloat16, kFloat64})
    visit_floating(dtype, [&](auto zero) {
      Pack pack;
      for (const Listed& listed : list) {
        if (listed.dtype != dtype) continue;
        pack.add(item_of(listed));
        if (pack.count < Pack::kMost) continue;
        run(zero, pack);
        pack.count = 0;
      }
      if (pack.count > 0) run(zero, pack);
    });
}

/// Element i … of an array as numbers, `kThreads` apart; nothing where there is no array.
template <class T>
TD_DEVICE void read(const void* data, int64_t i, int64_t n, Compute<T> (&x)[kTogether]) {
  for (int k = 0; k < kTogether; ++k)
    x[k] = data && i + k * kThreads < n ? to_compute(static_cast<const T*>(data)[i + k * kThreads]) : Compute<T>(0);
}
template <class T>
TD_DEVICE void write(void* data, int64_t i, int64_t n, const Compute<T> (&x)[kTogether]) {
  if (!data) return;
  for (int k = 0; k < kTogether; ++k)
    if (i + k * kThreads < n) static_cast<T*>(data)[i + k * kThreads] = to_element<T>(x[k]);
}

/// Calls f(i) for each thread with the places of its elements of a piece of n elements: i, i + kThreads, … kTogether of them.
template <class F>
TD_DEVICE void for_elements(Group<kThreads>& group, int64_t first, int64_t n, F&& f) {
  const int64_t end = first + kPiece < n ? first + kPiece : n;
  group.each([&](int t) {
    for (int64_t i = first + t; i < end; i += kThreads * kTogether) f(i);
  });
}

using SgdPack = Pieces<SgdParameter, 48>;

template <class T>
struct Sgd {
  using Shared = NothingShared;
  SgdPack pack;
  Compute<T> lr, momentum, take, weight_decay, sign;
  bool nesterov;

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    using C = Compute<T>;
    int64_t first;
    const SgdParameter& item = pack.find(piece, first);
    for_elements(group, first, item.numel, [&](int64_t i) {
      C p[kTogether], g[kTogether], buffer[kTogether];
      read<T>(item.parameter, i, item.numel, p);
      read<T>(item.gradient, i, item.numel, g);
      read<T>(item.first ? nullptr : item.momentum, i, item.numel, buffer);  // what a first step finds there may be anything
      for (int k = 0; k < kTogether; ++k) {
        C d = sign * g[k] + weight_decay * p[k];
        if (item.momentum) {
          buffer[k] = item.first ? d : momentum * buffer[k] + take * d;
          d = nesterov ? d + momentum * buffer[k] : buffer[k];
        }
        p[k] -= lr * d;
      }
      write<T>(item.parameter, i, item.numel, p);
      write<T>(item.momentum, i, item.numel, buffer);
    });
  }
};

TD_HOST_DEVICE inline double step_size_of(const AdamSettings& s, double step) { return s.lr / (1 - math::pow(s.beta1, step)); }
TD_HOST_DEVICE inline double over_root_of(const AdamSettings& s, double step) { return 1 / math::sqrt(1 - math::pow(s.beta2, step)); }

struct AdamItem {
  void *parameter, *gradient, *mean, *square, *max_square;
  int64_t numel;
  double step_size, over_root;  // lr / (1 - beta1^step), 1 / sqrt(1 - beta2^step); in a graph the step, and nothing
};

using AdamPack = Pieces<AdamItem, 48>;

template <class T>
struct Adam {
  struct Shared {
    double step_size, over_root;
  };
  AdamPack pack;
  Compute<T> decay, weight_decay, sign, rest1, beta2, rest2, eps;
  AdamSettings settings;
  const Replay* replay;  // in a graph the step is known only when it is replayed

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t piece, Shared& shared) const {
    using C = Compute<T>;
    int64_t first;
    const AdamItem& item = pack.find(piece, first);
    if (replay) {
      group.once([&] {
        const double t = item.step_size + static_cast<double>(replay->steps);
        shared.step_size = step_size_of(settings, t);
        shared.over_root = over_root_of(settings, t);
      });
    }
    const C step_size = static_cast<C>(replay ? shared.step_size : item.step_size);
    const C over_root = static_cast<C>(replay ? shared.over_root : item.over_root);
    for_elements(group, first, item.numel, [&](int64_t i) {
      C p[kTogether], g[kTogether], mean[kTogether], square[kTogether], most[kTogether];
      read<T>(item.parameter, i, item.numel, p);
      read<T>(item.gradient, i, item.numel, g);
      read<T>(item.mean, i, item.numel, mean);
      read<T>(item.square, i, item.numel, square);
      read<T>(item.max_square, i, item.numel, most);
      for (int k = 0; k < kTogether; ++k) {
        const C before = p[k] * decay, d = sign * g[k] + weight_decay * before;
        mean[k] += rest1 * (d - mean[k]);
        square[k] = beta2 * square[k] + rest2 * d * d;
        most[k] = item.max_square && most[k] > square[k] ? most[k] : square[k];
        p[k] = before - step_size * mean[k] / (math::sqrt(most[k]) * over_root + eps);
      }
      write<T>(item.parameter, i, item.numel, p);
      write<T>(item.mean, i, item.numel, mean);
      write<T>(item.square, i, item.numel, square);
      write<T>(item.max_square, i, item.numel, most);
    });
  }
};

using StepPack = Pieces<StepParameter, 24>;

template <class F, class T>
struct Step {
  using Shared = NothingShared;
  StepPack pack;

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    using C = Compute<T>;
    int64_t first;
    const StepParameter& item = pack.find(piece, first);
    const C keep = static_cast<C>(item.keep), weight_decay = static_cast<C>(item.weight_decay), sign = static_cast<C>(item.sign);
    C numbers[kStepNumbers];
    for (int k = 0; k < kStepNumbers; ++k) numbers[k] = static_cast<C>(item.numbers[k]);
    for_elements(group, first, item.numel, [&](int64_t i) {
      C p[kTogether], g[kTogether], state[F::kStates][kTogether];
      read<T>(item.parameter, i, item.numel, p);
      read<T>(item.gradient, i, item.numel, g);
      for (int s = 0; s < F::kStates; ++s) read<T>(item.state[s], i, item.numel, state[s]);
      for (int k = 0; k < kTogether; ++k) {
        C x = p[k] * keep, own[F::kStates];
        for (int s = 0; s < F::kStates; ++s) own[s] = state[s][k];
        F::apply(x, sign * g[k] + weight_decay * p[k], own, numbers);
        p[k] = x;
        for (int s = 0; s < F::kStates; ++s) state[s][k] = own[s];
      }
      write<T>(item.parameter, i, item.numel, p);
      for (int s = 0; s < F::kStates; ++s) write<T>(item.state[s], i, item.numel, state[s]);
    });
  }
};

/// What is known of a dense tensor.
struct DenseItem {
  void* data;
  int64_t numel;
  DType dtype;
};
DenseItem dense(const View& view) { return {view.data, view.numel(), view.dtype}; }

using ClipPack = Pieces<DenseItem, 96>;

template <class T>
struct Clip {
  using Shared = NothingShared;
  ClipPack pack;
  const float* norm;
  double max_norm;

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    const double factor = max_norm / (static_cast<double>(*norm) + 1e-6);
    if (factor >= 1) return;  // nan is no reason to leave them as they are
    int64_t first;
    const DenseItem& item = pack.find(piece, first);
    const auto by = static_cast<Compute<T>>(factor);
    for_elements(group, first, item.numel, [&](int64_t i) {
      Compute<T> x[kTogether];
      read<T>(item.data, i, item.numel, x);
      for (int k = 0; k < kTogether; ++k) x[k] *= by;
      write<T>(item.data, i, item.numel, x);
    });
  }
};

/// The sums of squares of pieces.
template <class T>
struct SumSquares {
  using Shared = NothingShared;
  ClipPack pack;
  double* sums;

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t piece, Shared&) const {
    int64_t first;
    const DenseItem& item = pack.find(piece, first);
    const int64_t end = first + kPiece < item.numel ? first + kPiece : item.numel;
    Group<kThreads>::Local<double> own;
    group.each([&](int t) {
      own[t] = 0;
      for (int64_t i = first + t; i < end; i += kThreads * kTogether) {
        Compute<T> x[kTogether];
        read<T>(item.data, i, item.numel, x);
        for (int k = 0; k < kTogether; ++k) own[t] += static_cast<double>(x[k]) * static_cast<double>(x[k]);
      }
    });
    const double sum = group.reduce(own, [](double a, double b) { return a + b; });
    group.once([&] { sums[piece] = sum; });
  }
};

struct Norm {
  static constexpr int kGroup = 1024;
  using Shared = NothingShared;
  const double* sums;
  int64_t pieces;
  float* norm;

  TD_DEVICE void operator()(Group<kGroup>& group, int64_t, Shared&) const {
    Group<kGroup>::Local<double> own;
    group.each([&](int t) {
      own[t] = 0;
      for (int64_t i = t; i < pieces; i += kGroup) own[t] += sums[i];
    });
    const double sum = group.reduce(own, [](double a, double b) { return a + b; });
    group.once([&] { *norm = static_cast<float>(math::sqrt(sum)); });
  }
};

}  // namespace

void sgd(const Queue& queue, Span<SgdParameter> parameters, SgdSettings settings) {
  const auto as_is = [](const SgdParameter& p) { return p; };
  for_packs<SgdPack>(parameters, as_is, [&]<class T>(T, const SgdPack& pack) {
    using C = Compute<T>;
    for_groups<kThreads>(
        queue, pack.pieces(),
        Sgd<T>{pack, static_cast<C>(settings.lr), static_cast<C>(settings.momentum), static_cast<C>(1 - settings.dampening),
               static_cast<C>(settings.weight_decay), settings.maximize ? C(-1) : C(1), settings.nesterov});
  });
}

void adam(const Queue& queue, Span<AdamParameter> parameters, AdamSettings settings) {
  const auto with_step = [&](const AdamParameter& p) {
    const auto t = static_cast<double>(p.step);
    return AdamItem{p.parameter,
                    p.gradient,
                    p.mean,
                    p.square,
                    p.max_square,
                    p.numel,
                    queue.replay ? t : step_size_of(settings, t),
                    over_root_of(settings, t)};
  };
  for_packs<AdamPack>(parameters, with_step, [&]<class T>(T, const AdamPack& pack) {
    using C = Compute<T>;
    for_groups<kThreads>(queue, pack.pieces(),
                         Adam<T>{pack, static_cast<C>(settings.decoupled ? 1 - settings.lr * settings.weight_decay : 1),
                                 static_cast<C>(settings.decoupled ? 0 : settings.weight_decay), settings.maximize ? C(-1) : C(1),
                                 static_cast<C>(1 - settings.beta1), static_cast<C>(settings.beta2), static_cast<C>(1 - settings.beta2),
                                 static_cast<C>(settings.eps), settings, queue.replay});
  });
}

void optimizer_step(const Queue& queue, OptimizerStep step, Span<StepParameter> parameters) {
  const auto as_is = [](const StepParameter& p) { return p; };
  for_packs<StepPack>(parameters, as_is, [&]<class T>(T, const StepPack& pack) {
    visit_step(step, [&](auto functor) { for_groups<kThreads>(queue, pack.pieces(), Step<decltype(functor), T>{pack}); });
  });
}

size_t total_norm_workspace(const Span<View>& tensors) {
  int64_t pieces = 0;
  for (const View& tensor : tensors) pieces += (tensor.numel() + kPiece - 1) / kPiece;
  return static_cast<size_t>(pieces) * sizeof(double);
}

void total_norm(const Queue& queue, Out out, Span<View> tensors, void* workspace) {
  auto* const sums = static_cast<double*>(workspace);
  int64_t pieces = 0;
  for_packs<ClipPack>(tensors, dense, [&]<class T>(T, const ClipPack& pack) {
    for_groups<kThreads>(queue, pack.pieces(), SumSquares<T>{pack, sums + pieces});
    pieces += pack.pieces();
  });
  for_groups<Norm::kGroup>(queue, 1, Norm{sums, pieces, out.as<float>()});
}

void clip(const Queue& queue, Span<Change> tensors, View norm, double max_norm) {
  for_packs<ClipPack>(tensors, dense, [&]<class T>(T, const ClipPack& pack) {
    for_groups<kThreads>(queue, pack.pieces(), Clip<T>{pack, norm.as<float>(), max_norm});
  });
}

}  // namespace tandem::kernels::cuda
