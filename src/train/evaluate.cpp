#include "train/evaluate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "ops/pointwise.h"
#include "train/pace.h"

namespace tandem::train::detail {
namespace {

/// A mean of one-element tensors that stays on the device: adding waits for nothing, reading does.
class Mean {
 public:
  void add(const Tensor& value, double weight, Site site) {
    const Tensor number = value.dim() == 0 ? value.detach() : value.detach().reshape({}, site);
    if (sum_.defined()) sum_.add_(number, weight, site);
    else sum_ = mul(number.to(kFloat64, {}, site), weight, site);
    weight_ += weight;
  }
  [[nodiscard]] double sum(Site site) const {
    const tandem::detail::OwnWork own("the reading of evaluation's figures", site);
    return sum_.item<double>(site);
  }
  [[nodiscard]] double weight() const { return weight_; }

 private:
  Tensor sum_;
  double weight_ = 0;
};

}  // namespace

Figures evaluate(Module& model, data::DataLoader& loader, Device device, int64_t limit, const std::function<bool()>& go_on,
                 const NamedMetrics& metrics, const Ranks& ranks, Site site) {
  if (!metrics.empty() && ranks.several())
    fail("[Trainer] metrics are those of one process, and there are several ranks: have validation_step give means");
  for (const auto& [name, metric] : metrics) metric->reset();
  Tensor output;  // the last that predict gave
  const Predict* const target = PredictGuard::target(model);
  const Predict kept = [&](const Tensor& input, Site from) { return output = target ? (*target)(input, from) : model(input, from); };
  const PredictGuard guard(model, kept);
  const NoGradGuard no_grad;
  const nn::detail::Evaluation evaluation(model);
  std::vector<std::pair<std::string, Mean>> means;
  Pace pace(device);
  int64_t done = 0;
  loader.set_device(device);
  loader.set_epoch(0);  // random numbers of its samples are the same each time
  const std::vector<double> weights = ranks.weights(loader, 0);
  for (const data::Batch& batch : loader) {
    if (done++ == limit) break;
    // A rank that has no sample of a batch computes one for nothing.
    const bool counts = weights.empty() || weights[static_cast<size_t>(done - 1)] > 0;
    for (const auto& [name, value] : model.validation_step(batch)) {
      auto found = std::find_if(means.begin(), means.end(), [&, &name = name](const auto& mean) { return mean.first == name; });
      if (found == means.end()) found = means.insert(means.end(), {name, Mean()});
      found->second.add(value, counts ? static_cast<double>(batch.size()) : 0, site);
    }
    if (!metrics.empty() && !output.defined())
      fail("[Trainer] metrics are of what predict gives, but ", model.name(),
           ".validation_step calls none: call predict(x), not forward(x)");
    for (const auto& [name, metric] : metrics) metric->update(output, batch.target(), site);
    output = Tensor();
    pace.batch_queued(site);
    while (pace.full()) pace.wait(site);
    if (!go_on()) return {};
  }
  Figures figures;
  std::vector<double> sums;
  for (const auto& [name, mean] : means) sums.insert(sums.end(), {mean.sum(site), mean.weight()});
  ranks.add_up(sums, site);
  for (size_t i = 0; i < means.size(); ++i) figures.emplace_back(means[i].first, sums[2 * i] / sums[2 * i + 1]);
  const tandem::detail::OwnWork own("the reading of metrics", site);
  for (const auto& [name, metric] : metrics) {
    if (find(figures, name)) fail("[Trainer] there are two figures of the name ", name, ": give the metric another");
    figures.emplace_back(name, metric->compute(site));
  }
  return figures;
}

}  // namespace tandem::train::detail
