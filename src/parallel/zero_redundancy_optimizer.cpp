#include "parallel/zero_redundancy_optimizer.h"

#include <charconv>
#include <map>
#include <string_view>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"

namespace tandem::optim::detail {
namespace {

using parallel::detail::FlatRanges;
using parallel::detail::Piece;

constexpr std::string_view kState = "state.", kGroups = "param_groups.";

/// A number and what follows it: "12.exp_avg" gives 12 and "exp_avg".
std::pair<size_t, std::string_view> number_and_rest(std::string_view text) {
  size_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return {number, text};
}

/// A piece, and its parameter's number among those of all groups.
struct Numbered {
  const Piece* piece;
  size_t parameter;
  const Tensor* whole;
};
std::vector<Numbered> all_pieces(const std::deque<FlatRanges>& ranges) {
  std::vector<Numbered> pieces;
  size_t before = 0;
  for (const FlatRanges& range : ranges) {
    for (const Piece& piece : range.pieces()) pieces.push_back({&piece, before + piece.parameter, &range.parameters()[piece.parameter]});
    before += range.parameters().size();
  }
  return pieces;
}

}  // namespace

StateDict whole_state(const StateDict& divided, const std::deque<FlatRanges>& ranges, const distributed::ProcessGroup& group, Site site) {
  const NoGradGuard no_grad;
  const std::vector<Numbered> pieces = all_pieces(ranges);
  StateDict mine, whole;  // mine: "parameter.begin.name"
  for (const auto& [key, value] : divided) {
    if (!key.starts_with(kState)) continue;
    const auto [number, name] = number_and_rest(std::string_view(key).substr(kState.size()));
    const Numbered& at = pieces.at(number);
    if (at.piece->count > 0) mine[str(at.parameter, ".", at.piece->begin, ".", name)] = value;
  }
  std::vector<Shape> sizes;
  for (const FlatRanges& range : ranges)
    for (const Tensor& parameter : range.parameters()) sizes.push_back(parameter.sizes());
  std::map<size_t, StateDict> by_parameter;
  for (const StateDict& one : parallel::detail::gather_state_dicts(mine, group, site)) {
    for (const auto& [key, value] : one) {
      const auto [parameter, tail] = number_and_rest(key);
      const auto [begin, name] = number_and_rest(tail);
      Tensor& part = by_parameter[parameter][name];
      if (!part.defined()) part = value.dim() == 0 ? value : zeros(sizes.at(parameter), value.dtype(), site);
      if (value.dim() > 0) part.view({-1}).narrow(0, static_cast<int64_t>(begin), value.numel()).copy_(value);
    }
  }
  for (const auto& [parameter, state] : by_parameter) whole.add(str(kState, parameter, "."), state);
  for (const auto& [key, value] : divided)
    if (key.starts_with(kGroups)) whole[key] = value;
  int64_t before = 0;
  for (size_t g = 0; g < ranges.size(); ++g) {
    const auto count = static_cast<int64_t>(ranges[g].parameters().size());
    whole[str(kGroups, g, ".params")] = arange(before, before + count);
    before += count;
  }
  return whole;
}

StateDict divided_state(const StateDict& whole, const std::deque<FlatRanges>& ranges) {
  const NoGradGuard no_grad;
  constexpr const char* kOp = "[ZeroRedundancyOptimizer.load_state_dict] ";
  StateDict divided;
  for (size_t g = 0; g < ranges.size(); ++g) {
    const Tensor* numbers = whole.find(str(kGroups, g, ".params"));
    const auto count = static_cast<int64_t>(ranges[g].parameters().size());
    if (!numbers) fail(kOp, "loaded state dict has a different number of parameter groups: ", g, ", not ", ranges.size());
    if (numbers->numel() != count) fail(kOp, "loaded state dict has ", numbers->numel(), " parameters in group ", g, ", not ", count);
  }
  if (whole.contains(str(kGroups, ranges.size(), ".params")))
    fail(kOp, "loaded state dict has a different number of parameter groups: more than ", ranges.size());
  const std::vector<Numbered> pieces = all_pieces(ranges);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& [piece, parameter, tensor] = pieces[i];
    for (const auto& [name, value] : whole.under(str(kState, parameter, "."))) {
      if (value.dim() == 0 && tensor->dim() == 0 && value.dtype() != tensor->dtype()) {
        divided[str(kState, i, ".", name)] = value;
      } else if (value.sizes() == tensor->sizes()) {
        divided[str(kState, i, ".", name)] = value.detach().contiguous().view({-1}).narrow(0, piece->begin, piece->count);
      } else if (value.dim() == 0) {
        divided[str(kState, i, ".", name)] = value;
      } else {
        fail(kOp, kState, parameter, ".", name, " has size ", value.sizes(), ", but its parameter here has ", tensor->sizes());
      }
    }
  }
  size_t before = 0;
  for (size_t g = 0; g < ranges.size(); ++g) {
    for (const auto& [name, value] : whole.under(str(kGroups, g, "."))) divided[str(kGroups, g, ".", name)] = value;
    const size_t count = ranges[g].pieces().size();
    divided[str(kGroups, g, ".params")] = arange(static_cast<int64_t>(before), static_cast<int64_t>(before + count));
    before += count;
  }
  return divided;
}

size_t state_bytes(const StateDict& state) {
  size_t bytes = 0;
  for (const auto& [key, value] : state)
    if (key.starts_with(kState) && value.dim() > 0) bytes += value.nbytes();
  return bytes;
}

}  // namespace tandem::optim::detail
