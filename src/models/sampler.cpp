#include "models/sampler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/splitmix.h"
#include "tensor/host_values.h"

namespace tandem::models {

Sampler::Sampler(const SamplingOptions& options, Site) : options_(options), state_(options.seed) {
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature))
    fail("[Sampler] temperature has to be 0 or above, but is ", options.temperature);
  if (options.top_k < 0) fail("[Sampler] top_k has to be 0 or above, but is ", options.top_k);
  if (!(options.top_p > 0 && options.top_p <= 1)) fail("[Sampler] top_p has to be above 0 and up to 1, but is ", options.top_p);
}

int64_t Sampler::choose(const Tensor& logits, Site site) {
  if (logits.dim() != 1 || logits.numel() == 0 || !logits.is_floating_point())
    fail("[Sampler.choose] logits have to be a list of floating numbers, but are of ", logits.dtype(), " and the sizes ", logits.sizes());
  const std::vector<double> values = read_values(logits, -1, "Sampler.choose", site).floating;
  const auto likeliest = std::max_element(values.begin(), values.end());
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }) || std::isinf(*likeliest))
    fail("[Sampler.choose] the logits have values that are not finite: the model's weights are damaged, or its dtype is too narrow");
  if (options_.temperature == 0) return likeliest - values.begin();

  struct Candidate {
    double weight;
    int64_t token;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    candidates.push_back({std::exp((values[i] - *likeliest) / options_.temperature), static_cast<int64_t>(i)});
  if (options_.top_k > 0 || options_.top_p < 1) {
    const auto first = [](const Candidate& a, const Candidate& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
    };
    const size_t kept = options_.top_k > 0 ? std::min(candidates.size(), static_cast<size_t>(options_.top_k)) : candidates.size();
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept), candidates.end(), first);
    candidates.resize(kept);
  }
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  if (options_.top_p < 1) {
    double sum = 0;
    size_t count = 0;
    while (count < candidates.size() && sum < options_.top_p * total) sum += candidates[count++].weight;
    candidates.resize(count);
    total = sum;
  }
  double left = static_cast<double>(detail::splitmix64(state_) >> 11) * 0x1p-53 * total;
  for (const Candidate& candidate : candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate.token;
  }
  return candidates.front().token;  // what rounding has left over
}

}  // namespace tandem::models
