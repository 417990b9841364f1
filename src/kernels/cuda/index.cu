// Indexing by tensors: for every position that they name, a block of the dimensions that they leave alone is moved, a thread an element, or
// four of them where the last dimension allows it.
// Accumulating keeps the order of positions that name one place without atomics: a group stands for each position and finds out whether an
// earlier one names its place; if none does, it adds its own block and those of all later ones. That looks at every pair of positions, so
// kOrdered of them at a time are added by a launch. More than kOwned are added with atomics, in any order, and without accumulating any one
// of the values for a place stays, unless algorithms have to be deterministic.
#include "base/backends.h"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/fours.cuh"
#include "kernels/cuda/indexing.cuh"

namespace tandem::kernels::cuda {
namespace {

constexpr int64_t kOwned = 4 * kOrdered;
constexpr int kGroup = 128;
constexpr int kCompared = 8;  // positions that a thread compares before the group adds up the matches

/// `whole` is the tensor that is indexed, `part` the one whose sizes are the index tensors' and then the sliced dimensions'. Up to
/// `max_indices` dimensions are indexed.
template <int max_indices>
struct IndexedPlaces {
  int indices = 0;
  const int64_t* index[max_indices];
  int64_t size[max_indices], stride[max_indices];  // of the dimension of `whole` that it indexes
  Places<1 + max_indices> positions;               // of part, and of the index tensors
  Places<2> block;                                 // of whole and part
  Divide by_width;
  bool negative;
  int64_t skipped;
  Reporter report;

  /// Whether position p names a place: where that is in `whole` and in `part`. `reports`: tells of an index out of range.
  template <bool reports>
  TD_DEVICE bool find(int64_t p, int64_t& to, int64_t& from) const {
    int64_t at[1 + max_indices];
    positions(p, at);
    from = at[0];
    to = 0;
    for (int k = 0; k < max_indices; ++k) {
      if (k >= indices) continue;
      int64_t place = index[k][at[1 + k]];
      if (!wrap_index(place, size[k], negative)) {
        if (reports) report(Trouble::IndexOutOfRange, place, size[k]);
        return false;
      }
      if (place == skipped) return false;
      to += place * stride[k];
    }
    return true;
  }
  /// The same for element i of `part`, row-major.
  TD_DEVICE bool find_element(int64_t i, int64_t& to, int64_t& from) const {
    const int64_t p = by_width(i);
    if (!find<true>(p, to, from)) return false;
    int64_t at[2];
    block(i - p * by_width.divisor, at);
    to += at[0];
    from += at[1];
    return true;
  }
};

template <int max_indices>
IndexedPlaces<max_indices> indexed_places(const Queue& queue, const View& whole, const View& part, const Span<View>& list, bool negative,
                                          int64_t skipped) {
  int sliced = whole.ndim;
  for (const View& v : list) sliced -= v.data != nullptr;
  const int index_ndim = part.ndim - sliced;
  int64_t index_strides[max_indices][kMaxDims], whole_strides[kMaxDims], size[max_indices], stride[max_indices];
  const int64_t* index[max_indices];
  const int64_t* strides[1 + max_indices] = {part.strides};
  for (int k = 0; k < max_indices; ++k) strides[1 + k] = kNoStrides;
  int indices = 0, blocks = 0;
  for (int d = 0; d < whole.ndim; ++d) {
    if (d >= list.size || !list[d].data) {
      whole_strides[blocks++] = whole.strides[d];
      continue;
    }
    const View& v = list[d];
    for (int i = 0; i < index_ndim; ++i) {
      const int own = i - (index_ndim - v.ndim);
      index_strides[indices][i] = own < 0 || v.sizes[own] == 1 ? 0 : v.strides[own];
    }
    strides[1 + indices] = index_strides[indices];
    index[indices] = v.as<const int64_t>();
    size[indices] = whole.sizes[d];
    stride[indices] = whole.strides[d];
    ++indices;
  }
  const Places<1 + max_indices> positions(index_ndim, part.sizes, strides);
  const Places<2> block(blocks, part.sizes + index_ndim, {whole_strides, part.strides + index_ndim});
  IndexedPlaces<max_indices> places{indices, {}, {}, {}, positions, block, Divide(block.count), negative, skipped, Reporter(queue)};
  for (int k = 0; k < indices; ++k) {
    places.index[k] = index[k];
    places.size[k] = size[k];
    places.stride[k] = stride[k];
  }
  return places;
}

/// Calls f with the places for as many index tensors as there are.
template <class F>
void with_places(const Queue& queue, const View& whole, const View& part, const Span<View>& list, bool negative, int64_t skipped, F&& f) {
  int indices = 0;
  for (const View& v : list) indices += v.data != nullptr;
  if (indices <= 2) f(indexed_places<2>(queue, whole, part, list, negative, skipped));
  else f(indexed_places<kMaxDims>(queue, whole, part, list, negative, skipped));
}

/// Whether the last dimension of a view can be gone along four elements at a time, wherever the others lead.
bool has_quads(const View& view) {
  const int last = view.ndim - 1;
  bool good = view.strides[last] == 1 && view.sizes[last] % kFour == 0 &&
              reinterpret_cast<uintptr_t>(view.data) % (kFour * size_of(view.dtype)) == 0;
  for (int d = 0; d < last; ++d) good &= view.sizes[d] == 1 || view.strides[d] % kFour == 0;
  return good;
}
/// The same as a view of quadruples.
View in_quads(View view) {
  const int last = view.ndim - 1;
  view.sizes[last] /= kFour;
  for (int d = 0; d < last; ++d) view.strides[d] /= kFour;
  return view;
}

template <class T, int max_indices>
struct Take {
  IndexedPlaces<max_indices> places;
  T* out;
  const T* in;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t whole, part;
    if (places.find_element(i, whole, part)) out[part] = in[whole];
  }
};

template <class T, int max_indices>
struct Put {
  IndexedPlaces<max_indices> places;
  T* out;
  const T* values;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t whole, part;
    if (places.find_element(i, whole, part)) out[whole] = values[part];
  }
};

template <class T, int max_indices>
struct AddAtomic {
  IndexedPlaces<max_indices> places;
  Compute<T>* out;
  const T* values;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t whole, part;
    if (places.find_element(i, whole, part)) atomic_combine(Scatter::Add, out + whole, to_compute(values[part]));
  }
};

/// Add: values for one place are added in their order. Set: the last one stays. Of positions begin … end - 1.
template <Scatter mode, class To, class T, int max_indices>
struct PutInOrder {
  struct Shared {
    int64_t from[kGroup];
  };
  IndexedPlaces<max_indices> places;
  To* out;
  const T* values;
  int64_t begin, end;

  TD_DEVICE void operator()(Group<kGroup>& group, int64_t i, Shared& shared) const {
    const int64_t p = begin + i;
    int64_t to, own;
    if (!places.template find<true>(p, to, own)) return;
    if constexpr (mode == Scatter::Set) {
      if (any_naming(group, to, p + 1, end)) return;
      group.each([&](int t) {
        for (int64_t w = t; w < places.block.count; w += kGroup) {
          int64_t at[2];
          places.block(w, at);
          out[to + at[0]] = values[own + at[1]];
        }
      });
    } else {
      if (any_naming(group, to, begin, p)) return;
      for (int64_t first = p; first < end; first += kChunk) {
        if (naming(group, to, first, end) == 0) continue;
        for (int64_t tile = first; tile < first + kChunk; tile += kGroup) add_tile(group, to, tile, shared);
      }
    }
  }

 private:
  static constexpr int64_t kChunk = int64_t{kCompared} * kGroup;
  template <class V>
  using Local = typename Group<kGroup>::template Local<V>;

  /// How many of kChunk positions from `first` on, below `last`, name this place.
  TD_DEVICE int naming(Group<kGroup>& group, int64_t place, int64_t first, int64_t last) const {
    Local<int> found;
    group.each([&](int t) {
      found[t] = 0;
      for (int k = 0; k < kCompared; ++k) {
        const int64_t p = first + k * kGroup + t;
        int64_t to, from;
        if (p < last && places.template find<false>(p, to, from)) found[t] += to == place;
      }
    });
    return group.reduce(found, [](int a, int b) { return a + b; });
  }
  TD_DEVICE bool any_naming(Group<kGroup>& group, int64_t place, int64_t first, int64_t last) const {
    for (; first < last; first += kChunk)
      if (naming(group, place, first, last) > 0) return true;
    return false;
  }

  /// Adds the blocks of those of kGroup positions that name this place.
  TD_DEVICE void add_tile(Group<kGroup>& group, int64_t place, int64_t first, Shared& shared) const {
    Local<int> names, upto;
    Local<int64_t> from;
    group.each([&](int t) {
      int64_t to = 0;
      names[t] = first + t < end && places.template find<false>(first + t, to, from[t]) && to == place;
      upto[t] = names[t];
    });
    const int found = group.scan(upto, [](int a, int b) { return a + b; });
    group.each([&](int t) {
      if (names[t]) shared.from[upto[t] - 1] = from[t];
    });
    group.each([&](int t) {
      for (int64_t w = t; found > 0 && w < places.block.count; w += kGroup) {
        int64_t at[2];
        places.block(w, at);
        To sum = out[place + at[0]];
        for (int k = 0; k < found; ++k) sum = combined(Scatter::Add, sum, combinable<To>(values[shared.from[k] + at[1]]));
        out[place + at[0]] = sum;
      }
    });
  }
};

template <Scatter mode, class To, class T, int max_indices>
void put_in_order(const Queue& queue, const IndexedPlaces<max_indices>& places, const View& out, const View& values) {
  if (places.block.count == 0) return;
  for (int64_t begin = 0, end; begin < places.positions.count; begin = end) {
    end = std::min(begin + kOrdered, places.positions.count);
    for_groups<kGroup>(queue, end - begin, PutInOrder<mode, To, T, max_indices>{places, out.as<To>(), values.as<T>(), begin, end});
  }
}

}  // namespace

void index(const Queue& queue, Out out, View in, Span<View> indices, bool negative) {
  View whole = in, part = out;
  const auto take = [&](auto zero) {
    using T = decltype(zero);
    with_places(queue, whole, part, indices, negative, -1, [&]<int max_indices>(const IndexedPlaces<max_indices>& places) {
      for_each(queue, places.positions.count * places.block.count, Take<T, max_indices>{places, part.as<T>(), whole.as<T>()});
    });
  };
  const bool last_is_sliced = in.ndim > 0 && (in.ndim > indices.size || !indices[in.ndim - 1].data);
  const bool together = last_is_sliced && out.numel() > 0 && has_quads(whole) && has_quads(part);
  if (together) {
    whole = in_quads(whole);
    part = in_quads(part);
  }
  visit_width(out.dtype, [&](auto zero) {
    if (together) take(Four<decltype(zero)>{});
    else take(zero);
  });
}

void accumulate(const Queue& queue, const View& out, const View& values, const Span<View>& indices, bool negative, int64_t skipped) {
  with_places(queue, out, values, indices, negative, skipped, [&]<int max_indices>(const IndexedPlaces<max_indices>& places) {
    visit(values.dtype, [&](auto zero) {
      using T = decltype(zero);
      using To = Compute<T>;
      if (places.positions.count <= kOwned || are_deterministic_algorithms_enabled())
        put_in_order<Scatter::Add, To, T>(queue, places, out, values);
      else for_each(queue, places.positions.count * places.block.count, AddAtomic<T, max_indices>{places, out.as<To>(), values.as<T>()});
    });
  });
}

void index_put(const Queue& queue, Change out, View values, Span<View> indices, bool accumulates, bool negative) {
  if (accumulates) return accumulate(queue, out, values, indices, negative, -1);
  visit_width(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    with_places(queue, out, values, indices, negative, -1, [&]<int max_indices>(const IndexedPlaces<max_indices>& places) {
      if (are_deterministic_algorithms_enabled()) put_in_order<Scatter::Set, T, T>(queue, places, out, values);
      else for_each(queue, places.positions.count * places.block.count, Put<T, max_indices>{places, out.as<T>(), values.as<T>()});
    });
  });
}

}  // namespace tandem::kernels::cuda
