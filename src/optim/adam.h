// Adam and AdamW: steps scaled by running means of the gradient and of its square.
#pragma once

#include <memory>

#include "optim/fused_fwd.h"
#include "optim/optimizer.h"

namespace tandem::optim {

struct AdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;  // added to the gradient
  bool amsgrad = false;
  bool maximize = false;

  void check() const;
  void each(detail::Visitor& visitor);
};

struct AdamWOptions {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;  // shrinks the parameter itself
  bool amsgrad = false;
  bool maximize = false;

  void check() const;
  void each(detail::Visitor& visitor);
};

namespace detail {

struct AdamState {
  int64_t step = 0;
  Tensor exp_avg, exp_avg_sq, max_exp_avg_sq;
  void each(Visitor& visitor) {
    visitor("step", step);
    visitor("exp_avg", exp_avg);
    visitor("exp_avg_sq", exp_avg_sq);
    visitor("max_exp_avg_sq", max_exp_avg_sq);
  }
};

/// What Adam and AdamW share; they differ in where the weight decay goes.
template <class OptionsT>
class AdamFamily : public OptimizerOf<OptionsT, AdamState> {
 public:
  AdamFamily(const char* name, std::vector<Tensor> params, const OptionsT& options);
  ~AdamFamily() override;
  using Optimizer::step;
  void step(Site site = Site::here()) override;

 private:
  std::unique_ptr<FusedStep<kernels::AdamParameter>> fused_;
};
extern template class AdamFamily<AdamOptions>;
extern template class AdamFamily<AdamWOptions>;

}  // namespace detail

/// Kingma and Ba, "Adam: a method for stochastic optimization". As torch.optim.Adam.
class Adam : public detail::AdamFamily<AdamOptions> {
 public:
  explicit Adam(std::vector<Tensor> params, const AdamOptions& options = {}, Site = Site::here())
      : AdamFamily("Adam", std::move(params), options) {}
  /// The same with a rate alone.
  explicit Adam(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : Adam(std::move(params), Options{.lr = lr}, site) {}
};

/// Adam with the weight decay apart from the gradient (Loshchilov and Hutter). As torch.optim.AdamW.
class AdamW : public detail::AdamFamily<AdamWOptions> {
 public:
  explicit AdamW(std::vector<Tensor> params, const AdamWOptions& options = {}, Site = Site::here())
      : AdamFamily("AdamW", std::move(params), options) {}
  /// The same with a rate alone.
  explicit AdamW(std::vector<Tensor> params, std::floating_point auto lr, Site site = Site::here())
      : AdamW(std::move(params), Options{.lr = lr}, site) {}
};

}  // namespace tandem::optim
