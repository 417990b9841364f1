// A model judged by data: means of what its validation_step gives.
#pragma once

#include <cstdint>
#include <functional>

#include "data/loader.h"
#include "train/figures.h"
#include "train/metrics.h"
#include "train/module.h"
#include "train/ranks.h"

namespace tandem::train::detail {

/// Means over the first `limit` batches (all where it is negative), weighed by samples; in evaluation mode and without gradients. `go_on`
/// is asked after each batch; where it says no, what came out so far is thrown away. With several ranks, whose loader is divided, the means
/// are those over all ranks' batches. `metrics` are of what `predict` gives; behind the means. Error for metrics where validation_step
/// calls no `predict`, where a name is there twice, and with several ranks.
[[nodiscard]] Figures evaluate(Module& model, data::DataLoader& loader, Device device, int64_t limit, const std::function<bool()>& go_on,
                               const NamedMetrics& metrics, const Ranks& ranks, Site site);

}  // namespace tandem::train::detail
