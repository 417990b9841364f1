#include "onnx/export/memory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "ops/creation.h"

namespace tandem::onnx::exporting {
namespace {

/// A dimension that moves through memory.
struct Dim {
  Size size, stride;
};

/// The dimensions of more than one element that do not repeat, the widest stride first, with their places.
std::vector<std::pair<Dim, int64_t>> sorted_dims(const Elements& at) {
  std::vector<std::pair<Dim, int64_t>> dims;
  for (size_t d = 0; d < at.sizes.size(); ++d)
    if (!at.sizes[d].is(1) && !at.strides[d].is(0)) dims.push_back({{at.sizes[d], at.strides[d]}, static_cast<int64_t>(d)});
  std::stable_sort(dims.begin(), dims.end(), [](const auto& a, const auto& b) { return a.first.stride.at[0] > b.first.stride.at[0]; });
  return dims;
}

constexpr int64_t kMostElements = int64_t{1} << 22;

/// Calls `f(place)` for each element in its order.
template <class F>
void each_element(const Elements& at, size_t trace, F&& f) {
  const size_t dims = at.sizes.size();
  int64_t count = 1;
  for (const Size& size : at.sizes) count *= size.at[trace];
  std::vector<int64_t> index(dims, 0);
  int64_t place = at.offset.at[trace];
  for (int64_t i = 0; i < count; ++i) {
    f(place);
    for (size_t d = dims; d-- > 0;) {
      place += at.strides[d].at[trace];
      if (++index[d] < at.sizes[d].at[trace]) break;
      place -= at.strides[d].at[trace] * at.sizes[d].at[trace];
      index[d] = 0;
    }
  }
}

/// What elements two have in common.
enum class Shared : uint8_t { None, Some, AllOfSecond };
Shared shared(const Elements& a, const Elements& b) {
  const auto extent_of_a = a.extent(), extent_of_b = b.extent();
  const Size& a_first = extent_of_a.first;
  const Size& a_last = extent_of_a.second;
  const Size& b_first = extent_of_b.first;
  const Size& b_last = extent_of_b.second;
  if (a.is_dense() && a_first.at_most(b_first) && b_last.at_most(a_last)) return Shared::AllOfSecond;
  bool none = true, all = true;
  for (size_t k = 0; k < kTraces; ++k) {
    if (a_last.at[k] < b_first.at[k] || b_last.at[k] < a_first.at[k]) {
      all = false;
      continue;
    }
    const int64_t reach = a_last.at[k] - a_first.at[k] + 1;
    if (count_of(a.sizes).at[k] > kMostElements || count_of(b.sizes).at[k] > kMostElements || reach > 4 * kMostElements)
      return Shared::Some;
    std::vector<bool> met(static_cast<size_t>(reach), false);
    each_element(a, k, [&](int64_t place) { met[static_cast<size_t>(place - a_first.at[k])] = true; });
    each_element(b, k, [&](int64_t place) {
      const bool in = place >= a_first.at[k] && place <= a_last.at[k] && met[static_cast<size_t>(place - a_first.at[k])];
      none &= !in;
      all &= in;
    });
  }
  return none ? Shared::None : all ? Shared::AllOfSecond : Shared::Some;
}

/// Whether its dimensions lie in each other, so that each element has one place in them.
bool is_nested(const std::vector<std::pair<Dim, int64_t>>& dims) {
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    if (!(dims[i + 1].first.stride * dims[i + 1].first.size).at_most(dims[i].first.stride)) return false;
  return dims.empty() || Size(0).below(dims.back().first.stride);
}

}  // namespace

std::pair<Size, Size> Elements::extent() const {
  Size first = offset, last = offset;
  for (size_t d = 0; d < sizes.size(); ++d)
    for (size_t k = 0; k < kTraces; ++k) {
      const int64_t reach = (sizes[d].at[k] - 1) * strides[d].at[k];
      (reach < 0 ? first : last).at[k] += reach;
    }
  return {first, last};
}

bool Elements::is_dense() const {
  for (size_t d = 0; d < sizes.size(); ++d)
    if (strides[d].is(0) && !sizes[d].is(1)) return false;
  const auto [first, last] = extent();
  return last - first + 1 == count_of(sizes);
}

void Memory::write(const Elements& at, const Value* value) {
  auto& pieces = regions_[static_cast<size_t>(at.region)];
  const auto [first, last] = at.extent();
  const bool dense = at.is_dense();
  std::erase_if(pieces, [&, first = first, last = last](const Piece& piece) {
    if (piece.at == at) return true;
    const auto [from, to] = piece.at.extent();
    return dense && piece.at.dtype == at.dtype && first.at_most(from) && to.at_most(last);
  });
  pieces.push_back({at, value});
}

/// The latest piece that has all of the elements, where no later one has any.
const Memory::Piece* Memory::only_piece(const Elements& at) const {
  const auto& pieces = regions_[static_cast<size_t>(at.region)];
  for (size_t i = pieces.size(); i-- > 0;) {
    const Piece& piece = pieces[i];
    if (piece.at == at) return &piece;
    const Shared elements = shared(piece.at, at);
    if (elements == Shared::AllOfSecond && piece.at.dtype == at.dtype) return &piece;
    if (elements != Shared::None) return nullptr;
  }
  return nullptr;
}

const Elements* Memory::source(const Elements& at) const {
  if (const Piece* const piece = only_piece(at)) return &piece->at;
  const auto [from, to] = at.extent();
  const auto& pieces = regions_[static_cast<size_t>(at.region)];
  for (size_t i = pieces.size(); i-- > 0;) {  // parts of which were written again
    const auto [first, last] = pieces[i].at.extent();
    if (pieces[i].at.is_dense() && first.at_most(from) && to.at_most(last)) return &pieces[i].at;
  }
  return nullptr;
}

const Value* Memory::read(const Elements& given, bool keep_ones) {
  Elements at = given;
  std::vector<int64_t> turned;
  for (size_t d = 0; d < at.sizes.size(); ++d) {
    if (at.strides[d].is(0)) at.sizes[d] = 1;
    if (at.sizes[d].is(1) || !at.strides[d].below(0)) continue;
    at.offset = at.offset + (at.sizes[d] - 1) * at.strides[d];
    at.strides[d] = Size(0) - at.strides[d];
    turned.push_back(static_cast<int64_t>(d));
  }
  const Value* value = read_positive(at, 3);
  if (!value) return nullptr;
  if (!turned.empty()) {
    const Sizes starts(turned.size(), -1), ends(turned.size(), std::numeric_limits<int64_t>::min());
    value = graph_.slice(value, turned, starts, ends, std::vector<int64_t>(turned.size(), -1));
  }
  return keep_ones ? value : graph_.expand(value, given.sizes);
}

const Value* Memory::read_positive(const Elements& at, int depth) {
  if (const Piece* const piece = only_piece(at))
    if (const Value* const value = convert(*piece, at)) return value;
  for (size_t d = 0; d < at.sizes.size() && depth > 0; ++d) {  // of halves, each of them of other memory
    if (!at.sizes[d].is_fixed() || at.sizes[d].at[0] < 2 || at.sizes[d].at[0] > 64) continue;
    if (only_piece(at)) break;
    const auto half = [&](int64_t from, int64_t count) {
      Elements part = at;
      part.offset = part.offset + at.strides[d] * from;
      part.sizes[d] = count;
      return part;
    };
    const int64_t size = at.sizes[d].at[0];
    bool is_readable = true;  // one by one, before anything is made
    for (int64_t i = 0; i < size && is_readable; ++i) is_readable = only_piece(half(i, 1)) != nullptr || depth > 1;
    if (!is_readable) continue;
    const Value* const first = read_positive(half(0, size / 2), size > 3 ? depth : depth - 1);
    const Value* const second = first ? read_positive(half(size / 2, size - size / 2), size > 3 ? depth : depth - 1) : nullptr;
    if (second) return graph_.concat({first, second}, static_cast<int64_t>(d));
  }
  if (const Value* const value = gathered(at)) return value;
  return depth > 0 ? around_latest(at, depth - 1) : nullptr;
}

/// What was written last apart from what lies before and behind it.
const Value* Memory::around_latest(const Elements& at, int depth) {
  const auto& pieces = regions_[static_cast<size_t>(at.region)];
  const auto latest =
      std::find_if(pieces.rbegin(), pieces.rend(), [&](const Piece& piece) { return shared(piece.at, at) != Shared::None; });
  if (latest == pieces.rend()) return nullptr;
  const auto [first, last] = latest->at.extent();
  for (size_t d = 0; d < at.sizes.size(); ++d) {
    if (at.sizes[d].is(1) || !Size(0).below(at.strides[d]) || !at.offset.at_most(first)) continue;
    const Size from = (first - at.offset) / at.strides[d], to = (last - at.offset) / at.strides[d] + 1;
    const bool inside = to.at_most(at.sizes[d]) && from.below(to) && !(from.is(0) && to == at.sizes[d]);
    if (!inside) continue;
    Values parts;
    const auto read_part = [&](const Size& begin, const Size& end) {
      Elements part = at;
      part.offset = part.offset + at.strides[d] * begin;
      part.sizes[d] = end - begin;
      parts.push_back(read_positive(part, depth));
      return parts.back() != nullptr;
    };
    if ((from.is(0) || (Size(0).below(from) && read_part(0, from))) && read_part(from, to) &&
        (to == at.sizes[d] || (to.below(at.sizes[d]) && read_part(to, at.sizes[d]))))
      return graph_.concat(parts, static_cast<int64_t>(d));
  }
  return nullptr;
}

void split_like(const Elements& inner, const Sizes& own_strides, Sizes& sizes, std::vector<Sizes*> strides) {
  const Sizes own(own_strides.begin(), own_strides.end());  // which may be one of `strides`
  const Sizes before = sizes;
  std::vector<Sizes> lists;
  for (const Sizes* list : strides) lists.push_back(*list);
  sizes.clear();
  for (Sizes* list : strides) list->clear();
  const auto dims = sorted_dims(inner);
  for (size_t d = 0; d < before.size(); ++d) {
    std::vector<Size> parts;  // the innermost first
    if (!own[d].is(0) && !before[d].is(1)) {
      Size rest = before[d], stride = own[d];
      for (size_t i = dims.size(); i-- > 0 && !rest.is(1);) {
        if (!(dims[i].first.stride == stride)) continue;
        if (!rest.divisible(dims[i].first.size) || rest == dims[i].first.size) break;
        parts.push_back(dims[i].first.size);
        rest = rest / dims[i].first.size;
        stride = stride * dims[i].first.size;
      }
      parts.push_back(rest);
    } else {
      parts.push_back(before[d]);
    }
    const size_t at = sizes.size();
    sizes.insert(sizes.end(), parts.rbegin(), parts.rend());
    for (size_t k = 0; k < lists.size(); ++k) {
      Size stride = lists[k][d];
      Sizes split;
      for (const Size& part : parts) {
        split.push_back(stride);
        stride = stride * part;
      }
      strides[k]->insert(strides[k]->begin() + static_cast<int64_t>(at), split.rbegin(), split.rend());
    }
  }
}

/// Reshape, slice, transpose, reshape: from elements to some of them, without those that repeat.
const Value* Memory::convert(const Piece& piece, const Elements& at) {
  if (piece.at.dtype != at.dtype) return nullptr;
  if (piece.at.sizes == at.sizes && piece.at.offset == at.offset) {
    bool same = true;
    for (size_t d = 0; d < at.sizes.size(); ++d) same &= at.sizes[d].is(1) || at.strides[d] == piece.at.strides[d];
    if (same) return piece.value;
  }
  const auto sorted = sorted_dims(piece.at);
  if (!is_nested(sorted)) return nullptr;
  std::vector<Dim> dims;
  std::vector<int64_t> order, ones;
  for (const auto& [dim, place] : sorted) {
    dims.push_back(dim);
    order.push_back(place);
  }
  // Where a wanted stride lies inside of a dimension, that is cut there, or read by steps.
  const auto wanted = sorted_dims(at);
  std::vector<Size> step(dims.size(), 1);
  for (const auto& [want, place] : wanted) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (want.stride == dims[i].stride) break;
      if (!dims[i].stride.below(want.stride) || !want.stride.below(dims[i].stride * dims[i].size)) continue;
      if (!want.stride.divisible(dims[i].stride)) return nullptr;
      const Size by = want.stride / dims[i].stride;
      if (dims[i].size.divisible(by)) {
        const Dim inner{by, dims[i].stride};
        dims[i] = {dims[i].size / by, want.stride};
        dims.insert(dims.begin() + static_cast<int64_t>(i) + 1, inner);
        step.insert(step.begin() + static_cast<int64_t>(i) + 1, 1);
      } else {
        if (!step[i].is(1) || !by.is_fixed()) return nullptr;
        step[i] = by;
      }
      break;
    }
  }
  std::vector<Size> start(dims.size(), 0), length(dims.size(), 1);
  Size rest = at.offset - piece.at.offset;
  for (size_t i = 0; i < dims.size(); ++i) {
    start[i] = rest / dims[i].stride;
    rest = rest - start[i] * dims[i].stride;
    if (!start[i].below(dims[i].size)) return nullptr;
  }
  if (!rest.is(0)) return nullptr;
  std::vector<int64_t> begins(wanted.size(), -1), ends(wanted.size(), -1);  // the dimensions that a wanted one runs through
  std::vector<bool> used(dims.size(), false);
  for (size_t w = 0; w < wanted.size(); ++w) {
    const Dim& want = wanted[w].first;
    Size left = want.size;
    for (size_t i = dims.size(); i-- > 0 && !left.is(1);) {
      if (begins[w] < 0) {
        if (!(dims[i].stride * step[i] == want.stride)) continue;
      } else if (!(dims[i].stride == dims[i + 1].stride * dims[i + 1].size) || !step[i].is(1)) {
        return nullptr;
      }
      if (used[i]) return nullptr;
      used[i] = true;
      if (ends[w] < 0) ends[w] = static_cast<int64_t>(i);
      begins[w] = static_cast<int64_t>(i);
      if ((start[i] + (left - 1) * step[i]).below(dims[i].size)) {
        length[i] = left;
        left = 1;
      } else {
        if (!start[i].is(0) || !step[i].is(1) || !left.divisible(dims[i].size)) return nullptr;
        length[i] = dims[i].size;
        left = left / dims[i].size;
      }
    }
    if (!left.is(1) || begins[w] < 0) return nullptr;
  }
  const Value* value = piece.value;
  for (size_t d = 0; d < piece.at.sizes.size(); ++d)
    if (std::find(order.begin(), order.end(), static_cast<int64_t>(d)) == order.end()) ones.push_back(static_cast<int64_t>(d));
  Sizes refined;
  for (const Dim& dim : dims) refined.push_back(dim.size);
  std::vector<int64_t> to_wanted;  // the places in `at`'s order
  std::vector<size_t> by_place(wanted.size());
  std::iota(by_place.begin(), by_place.end(), size_t{0});
  std::sort(by_place.begin(), by_place.end(), [&](size_t a, size_t b) { return wanted[a].second < wanted[b].second; });
  bool in_order = true;
  for (size_t i = 0; i < order.size(); ++i) in_order &= i == 0 || order[i - 1] < order[i];
  if (!in_order) {
    std::vector<int64_t> all = order;
    all.insert(all.end(), ones.begin(), ones.end());
    value = graph_.transpose(value, all);
  }
  value = graph_.reshape(value, refined);
  std::vector<int64_t> axes, steps;
  Sizes from, to;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (start[i].is(0) && length[i] == dims[i].size) continue;
    axes.push_back(static_cast<int64_t>(i));
    from.push_back(start[i]);
    const Size end = start[i] + (length[i] - 1) * step[i] + 1;
    to.push_back(end == dims[i].size && !end.is_fixed() ? Size(std::numeric_limits<int64_t>::max()) : end);
    steps.push_back(step[i].at[0]);
  }
  if (!axes.empty()) {
    Sizes sliced = refined;
    for (const int64_t axis : axes) sliced[static_cast<size_t>(axis)] = length[static_cast<size_t>(axis)];
    value =
        graph_.node("Slice", {value, graph_.sizes(from), graph_.sizes(to), graph_.ints(axes), graph_.ints(steps)}, {value->dtype, sliced});
  }
  Sizes joined;  // one each that is wanted, in the order of memory
  for (const auto& want : wanted) joined.push_back(want.first.size);
  value = graph_.reshape(value, joined);
  for (const size_t w : by_place) to_wanted.push_back(static_cast<int64_t>(w));
  value = graph_.transpose(value, to_wanted);
  return graph_.reshape(value, at.sizes);
}

/// Any elements, by their numbers: where no size depends on the inputs.
const Value* Memory::gathered(const Elements& at) {
  const auto fixed = [](const Elements& e) {
    return e.offset.is_fixed() && std::all_of(e.sizes.begin(), e.sizes.end(), [](const Size& s) { return s.is_fixed(); }) &&
           std::all_of(e.strides.begin(), e.strides.end(), [](const Size& s) { return s.is_fixed(); });
  };
  const auto& pieces = regions_[static_cast<size_t>(at.region)];
  if (!fixed(at) || count_of(at.sizes).at[0] > kMostElements) return nullptr;
  std::vector<const Piece*> parts;
  for (const Piece& piece : pieces)
    if (piece.at.dtype == at.dtype && shared(piece.at, at) != Shared::None) parts.push_back(&piece);
    else if (piece.at.dtype != at.dtype) return nullptr;
  std::vector<std::pair<int64_t, int64_t>> found;  // place, number; later ones count
  Values flat;
  int64_t before = 0;
  for (const Piece* const piece : parts) {
    if (!fixed(piece->at) || count_of(piece->at.sizes).at[0] > kMostElements) return nullptr;
    int64_t number = before;
    each_element(piece->at, 0, [&](int64_t place) { found.emplace_back(place, number++); });
    before = number;
    flat.push_back(graph_.reshape(piece->value, {count_of(piece->at.sizes)}));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int64_t> numbers;
  bool all = !flat.empty();
  each_element(at, 0, [&](int64_t place) {
    const auto after = std::upper_bound(found.begin(), found.end(), place, [](int64_t p, const auto& f) { return p < f.first; });
    if (after == found.begin() || std::prev(after)->first != place) all = false;
    else numbers.push_back(std::prev(after)->second);
  });
  if (!all) return nullptr;
  Shape sizes;
  for (const Size& size : at.sizes) sizes.push_back(size.at[0]);
  Tensor indices = empty(sizes, {.dtype = kInt64});
  if (!numbers.empty()) std::memcpy(indices.data_ptr(), numbers.data(), numbers.size() * sizeof(int64_t));
  return graph_.node("Gather", {graph_.concat(flat, 0), graph_.constant(indices)}, {at.dtype, at.sizes}, {{"axis", int64_t{0}}});
}

}  // namespace tandem::onnx::exporting
