// Softmax and the losses.
#include <cmath>

#include "cases/case.h"

namespace tandem::cases {
namespace {

struct Softmax : Case {
  static constexpr const char* name = "softmax";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1);
    in.add(randn({2, 7, 4}), 1);
    in.add(randn({3, 70}), -1);
    in.add_kink(full({2, 3}, 1e4f), 0);  // would overflow without the maximum
    in.add(randn({}), 0);
    in.add(randn({0, 3}), 1);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({1, n}), 1);
    in.add(ones({n, 2}), 0);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return softmax(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    if (x.numel() == 0) return x.clone();
    const Tensor e = each(x - x.amax({dim}, true), [](double v) { return std::exp(v); });
    return e / (x.dim() ? e.sum(dim, true) : e);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000}), 1); }
};

struct LogSoftmax : Softmax {
  static constexpr const char* name = "log_softmax";
  static constexpr double tolerance = 4;
  Tensor run(const Tensor& x, int64_t dim) const { return log_softmax(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    return each(Softmax::reference(x, dim), [](double v) { return std::log(v); });
  }
};

struct Softmin : Softmax {
  static constexpr const char* name = "softmin";
  static constexpr const char* torch = "nn.functional.softmin";
  Tensor run(const Tensor& x, int64_t dim) const { return softmin(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const { return Softmax::reference(-x, dim); }
};

/// What a loss makes of the losses of the elements.
Tensor reduce(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::None ? losses : reduction == Reduction::Sum ? losses.sum() : losses.sum() / double(losses.numel());
}

struct CrossEntropy : Case {
  static constexpr const char* name = "cross_entropy";
  static constexpr const char* torch = "nn.functional.cross_entropy";
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = true;
  static constexpr bool expands = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), tensor({1, 4, 0, 2}), false, Reduction::Mean, 0.0);
    in.add(randn({4, 5}), tensor({1, -100, 0, 2}), true, Reduction::Mean, 0.0);
    in.add(randn({4, 5}), tensor({1, -100, 0, 2}), false, Reduction::None, 0.1);
    in.add(randn({5}), tensor(3), false, Reduction::Sum, 0.0);
    in.add(randn({0, 5}), zeros({0}, kInt64), false, Reduction::Sum, 0.0);
  }
  /// Of five classes.
  static double weight_of(int64_t label) { return 0.5 + 0.25 * double(label); }
  static Tensor weights(const Tensor& x) { return linspace(0.5, 1.5, 5, {.dtype = x.dtype(), .device = x.device()}); }
  void many(Inputs& in, int64_t n) const {
    for (const bool weighted : {false, true}) {
      in.add(ones({n, 5}), zeros({n}, kInt64), weighted, Reduction::Mean, 0.0);
      in.add(ones({n, 5}), zeros({n}, kInt64), weighted, Reduction::Sum, 0.1);
    }
  }
  Tensor run(const Tensor& x, const Tensor& target, bool weighted, Reduction reduction, double smoothing) const {
    CrossEntropyOptions options;
    if (weighted) options.weight = weights(x);
    options.reduction = reduction;
    options.label_smoothing = smoothing;
    return cross_entropy(x, target, options);
  }
  Tensor reference(const Tensor& x, const Tensor& target, bool weighted, Reduction reduction, double smoothing) const {
    const Tensor logits = x.dim() == 1 ? x.unsqueeze(0) : x, targets = target.dim() == 0 ? target.unsqueeze(0) : target;
    const Tensor log_p = LogSoftmax().reference(logits, 1);
    const int64_t classes = logits.size(1);
    double weights = 0;
    const Tensor losses = generate({logits.size(0)}, [&](const Shape& row) {
      const auto t = int64_t(at(targets, row));
      if (t == -100) return 0.0;
      const auto factor = [&](int64_t c) { return weighted ? weight_of(c) : 1.0; };
      double loss = -(1 - smoothing) * factor(t) * at(log_p, {row[0], t});
      for (int64_t c = 0; c < classes; ++c) loss -= smoothing / double(classes) * factor(c) * at(log_p, {row[0], c});
      weights += factor(t);
      return loss;
    });
    if (reduction == Reduction::Mean) return losses.sum() / weights;
    const Tensor result = reduce(losses, reduction);
    return x.dim() == 1 && reduction == Reduction::None ? result.squeeze(0) : result;
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 999) / 1000;
    in.add(randn({rows, 1000}), randint(0, 1000, {rows}), false, Reduction::Mean, 0.0);
  }
};

struct NllLoss : CrossEntropy {
  static constexpr const char* name = "nll_loss";
  static constexpr const char* torch = "nn.functional.nll_loss";
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), tensor({1, 4, 0, 2}), false, Reduction::Mean);
    in.add(randn({4, 5}), tensor({1, -100, 0, 2}), true, Reduction::Mean);
    in.add(randn({4, 5}), tensor({1, -100, 0, 2}), false, Reduction::None);
    in.add(randn({5}), tensor(3), false, Reduction::Sum);
    in.add(randn({0, 5}), zeros({0}, kInt64), false, Reduction::Sum);
  }
  void many(Inputs& in, int64_t n) const {
    for (const bool weighted : {false, true}) {
      in.add(ones({n, 5}), zeros({n}, kInt64), weighted, Reduction::Mean);
      in.add(ones({n, 5}), zeros({n}, kInt64), weighted, Reduction::Sum);
    }
  }
  Tensor run(const Tensor& x, const Tensor& target, bool weighted, Reduction reduction) const {
    NllLossOptions options;
    if (weighted) options.weight = weights(x);
    options.reduction = reduction;
    return nll_loss(x, target, options);
  }
  Tensor reference(const Tensor& x, const Tensor& target, bool weighted, Reduction reduction) const {
    const Tensor rows = x.dim() == 1 ? x.unsqueeze(0) : x, targets = target.dim() == 0 ? target.unsqueeze(0) : target;
    double weights = 0;
    const Tensor losses = generate({rows.size(0)}, [&](const Shape& row) {
      const auto t = int64_t(at(targets, row));
      if (t == -100) return 0.0;
      const double factor = weighted ? weight_of(t) : 1.0;
      weights += factor;
      return -factor * at(rows, {row[0], t});
    });
    return reduction == Reduction::Mean ? losses.sum() / weights : reduce(losses, reduction);
  }
  void bench(Inputs& in, int64_t n) const {
    const int64_t rows = (n + 999) / 1000;
    in.add(randn({rows, 1000}), randint(0, 1000, {rows}), false, Reduction::Mean);
  }
};

struct MseLoss : Case {
  static constexpr const char* name = "mse_loss";
  static constexpr const char* torch = "nn.functional.mse_loss";
  static constexpr double tolerance = 4;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), Reduction::Mean);
    in.add(randn({30}), randn({30}), Reduction::Sum);
    in.add(randn({}), randn({}), Reduction::None);
    in.add(randn({0, 2}), randn({0, 2}), Reduction::Sum);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), zeros({n}), Reduction::Mean);
    in.add(ones({n}), zeros({n}), Reduction::Sum);
  }
  Tensor run(const Tensor& x, const Tensor& target, Reduction reduction) const { return mse_loss(x, target, {.reduction = reduction}); }
  Tensor reference(const Tensor& x, const Tensor& target, Reduction reduction) const {
    return reduce(each(x, target, [](double a, double b) { return (a - b) * (a - b); }), reduction);
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), Reduction::Mean); }
};

struct L1Loss : MseLoss {
  static constexpr const char* name = "l1_loss";
  static constexpr const char* torch = "nn.functional.l1_loss";
  Tensor run(const Tensor& x, const Tensor& target, Reduction reduction) const { return l1_loss(x, target, {.reduction = reduction}); }
  Tensor reference(const Tensor& x, const Tensor& target, Reduction reduction) const {
    return reduce(each(x, target, [](double a, double b) { return std::fabs(a - b); }), reduction);
  }
};

}  // namespace

void add_losses(std::vector<Operation>& list) {
  list.push_back(operation<Softmax>());
  list.push_back(operation<Softmin>());
  list.push_back(operation<LogSoftmax>());
  list.push_back(operation<CrossEntropy>());
  list.push_back(operation<NllLoss>());
  list.push_back(operation<MseLoss>());
  list.push_back(operation<L1Loss>());
}

}  // namespace tandem::cases
