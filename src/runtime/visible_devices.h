// CUDA_VISIBLE_DEVICES: which GPUs a process sees, and in which order. Virtual GPUs obey it as real ones do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::runtime {

/// The GPUs that `value` names, as indices into `uuids` (written without "GPU-"): all where there is no value, none where it is empty.
/// A list of numbers ("1, 0"), of which only leading digits count, or of prefixes of uuids ("GPU-3f"). Ends before the first GPU that does
/// not exist, is negative or ambiguous; a GPU named twice empties it. As torch.cuda reads it.
[[nodiscard]] std::vector<int> visible_devices(std::optional<std::string_view> value, std::span<const std::string> uuids);

}  // namespace tandem::runtime
