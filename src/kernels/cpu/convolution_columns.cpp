// Convolutions as products of the weight with columns: for each place of the result, what its window sees. Columns are made for some places
// at a time, so that they stay in the cache. Half types are computed in float, integers in int64.
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/convolution_plan.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/visit.h"

namespace tandem::kernels::cpu {
namespace {

template <class T>
void product(const DenseProduct<T>& p, T* scratch) {
  if constexpr (std::is_same_v<T, int64_t>) {
    for (int64_t i = 0; i < p.m; ++i) {
      T* const to = p.out + i * p.out_row;
      std::fill(to, to + p.n, 0);
      for (int64_t q = 0; q < p.k; ++q) {
        const auto factor = static_cast<uint64_t>(p.a[i * p.a_row + q * p.a_column]);
        const T* const b = p.b + q * p.b_row;
        for (int64_t j = 0; j < p.n; ++j)
          to[j] = static_cast<T>(static_cast<uint64_t>(to[j]) + factor * static_cast<uint64_t>(b[j * p.b_column]));
      }
    }
  } else {
    const ProductFunctionsOf<T>& functions = product_functions<T>();
    const bool small = p.m <= 64 && p.k <= 1024;
    if (p.b_column == 1 && small) functions.rows(p);
    else if (p.b_column != 1 && p.a_column == 1 && p.m <= 32) functions.columns(p);
    else functions.blocked(p, scratch);
  }
}

/// A plan's sizes and the parts of a task's scratch memory, in elements of T.
template <class T>
struct Columns {
  const ConvolutionPlan& plan;
  int64_t seen = plan.seen(), in_places = plan.in_places(), out_places = plan.out_places();
  int64_t inputs = plan.ic / plan.groups, outputs = plan.oc / plan.groups;  // channels of a group
  bool own_type = plan.dtype == dtype_of<T>();
  T *columns = nullptr, *other = nullptr, *image = nullptr, *products = nullptr;

  /// Lays the parts out from `scratch` on; says how many elements they take.
  int64_t lay_out(T* scratch) {
    int64_t used = 0;
    const auto take = [&](T*& part, int64_t elements) {
      if (scratch) part = scratch + used;
      used += (elements + 15) / 16 * 16;
    };
    const bool gradient = plan.part == ConvolutionPart::Weight;
    take(columns, seen * plan.places);
    if (!own_type) take(other, outputs * plan.places);  // of the result or its gradient
    if (plan.part == ConvolutionPart::Input && !own_type) take(image, inputs * in_places);
    if (gradient) take(image, outputs * seen);
    take(products, kProductScratch);
    return used;
  }

  /// The first and the one past the last place of a row of the result whose window sees column `offset` on within the input.
  void inside(int64_t offset, int64_t& begin, int64_t& end) const {
    const int64_t stride = plan.windows.stride[2];
    begin = offset < 0 ? (-offset + stride - 1) / stride : 0;
    end = offset >= plan.in[2] ? 0 : (plan.in[2] - offset + stride - 1) / stride;
    end = std::min(end, plan.out[2]);
  }

  /// Calls `f(column's elements, count, from or -1)` for the runs of places first … first + count - 1 along rows of the result: what a run
  /// sees is `from`, `from + stride`, … in the image; -1 for padding.
  template <class F>
  void each_run(int64_t first, int64_t count, F f) const {
    const Windows& w = plan.windows;
    T* column = columns;
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t kd = 0; kd < w.kernel[0]; ++kd)
        for (int64_t kh = 0; kh < w.kernel[1]; ++kh)
          for (int64_t kw = 0; kw < w.kernel[2]; ++kw, column += count) {
            const int64_t offset = kw * w.dilation[2] - w.padding[2];
            int64_t begin, end;
            inside(offset, begin, end);
            for (int64_t p = first; p < first + count;) {
              const int64_t row = p / plan.out[2], x0 = p % plan.out[2], x1 = std::min(plan.out[2], x0 + first + count - p);
              const int64_t z = row / plan.out[1] * w.stride[0] - w.padding[0] + kd * w.dilation[0];
              const int64_t y = row % plan.out[1] * w.stride[1] - w.padding[1] + kh * w.dilation[1];
              T* const to = column + p - first;
              const bool has_row = z >= 0 && z < plan.in[0] && y >= 0 && y < plan.in[1];
              const int64_t from = std::clamp(has_row ? begin : x1, x0, x1), until = std::clamp(has_row ? end : x1, from, x1);
              if (from > x0) f(to, from - x0, -1);
              if (until > from)
                f(to + from - x0, until - from, ((c * plan.in[0] + z) * plan.in[1] + y) * plan.in[2] + from * w.stride[2] + offset);
              if (x1 > until) f(to + until - x0, x1 - until, -1);
              p += x1 - x0;
            }
          }
  }

  /// Fills the columns from the channels of a group.
  void gather(const char* from, int64_t first, int64_t count) const {
    const auto pack = pack_to<T>(plan.dtype);
    each_run(first, count, [&](T* to, int64_t length, int64_t at) {
      if (at < 0) std::fill(to, to + length, T(0));
      else pack(to, from + at * static_cast<int64_t>(size_of(plan.dtype)), plan.windows.stride[2], length);
    });
  }
  /// Adds the columns to the channels of a group.
  void scatter(T* to, int64_t first, int64_t count) const {
    const int64_t stride = plan.windows.stride[2];
    each_run(first, count, [&](const T* from, int64_t length, int64_t at) {
      if (at < 0) return;
      for (int64_t i = 0; i < length; ++i) {
        if constexpr (std::is_integral_v<T>)
          to[at + i * stride] = static_cast<T>(static_cast<uint64_t>(to[at + i * stride]) + static_cast<uint64_t>(from[i]));
        else to[at + i * stride] += from[i];
      }
    });
  }

  /// Places first … of the channels of a group of the result, as rows of T and their distance.
  const T* outputs_at(const char* from, int64_t first, int64_t count, int64_t& row) const {
    if (own_type) {
      row = out_places;
      return reinterpret_cast<const T*>(from) + first;
    }
    row = count;
    const auto pack = pack_to<T>(plan.dtype);
    for (int64_t c = 0; c < outputs; ++c)
      pack(other + c * count, from + (c * out_places + first) * static_cast<int64_t>(size_of(plan.dtype)), 1, count);
    return other;
  }

  void forward(char* out, const char* in, const T* weight, const char* bias, int64_t first, int64_t count) const {
    const auto size = static_cast<int64_t>(size_of(plan.dtype));
    gather(in, first, count);
    T* const to = own_type ? reinterpret_cast<T*>(out) + first : other;
    const int64_t row = own_type ? out_places : count;
    product<T>({to, weight, columns, outputs, count, seen, row, seen, 1, count, 1}, products);
    const auto pack = pack_to<T>(plan.dtype);
    const auto unpack = unpack_from<T>(plan.dtype);
    for (int64_t c = 0; c < outputs; ++c) {
      T* const line = to + c * row;
      if (bias) {
        T more;
        pack(&more, bias + c * size, 1, 1);
        for (int64_t i = 0; i < count; ++i) line[i] = static_cast<T>(line[i] + more);
      }
      if (!own_type) unpack(out + (c * out_places + first) * size, 1, line, count);
    }
  }

  void gradient_of_input(char* in, const char* out, const T* weight) const {
    T* const to = own_type ? reinterpret_cast<T*>(in) : image;
    std::fill(to, to + inputs * in_places, T(0));
    for (int64_t first = 0; first < out_places; first += plan.places) {
      const int64_t count = std::min(plan.places, out_places - first);
      int64_t row;
      const T* const from = outputs_at(out, first, count, row);
      product<T>({columns, weight, from, seen, count, outputs, count, 1, seen, row, 1}, products);
      scatter(to, first, count);
    }
    if (!own_type) unpack_from<T>(plan.dtype)(in, 1, image, inputs * in_places);
  }

  void gradient_of_weight(T* sums, const char* out, const char* in) const {
    for (int64_t first = 0; first < out_places; first += plan.places) {
      const int64_t count = std::min(plan.places, out_places - first);
      gather(in, first, count);
      int64_t row;
      const T* const from = outputs_at(out, first, count, row);
      product<T>({image, from, columns, outputs, seen, count, seen, row, 1, 1, count}, products);
      add(sums, image, outputs * seen);
    }
  }

  static void add(T* to, const T* from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) to[i] = static_cast<T>(static_cast<uint64_t>(to[i]) + static_cast<uint64_t>(from[i]));
      else to[i] += from[i];
    }
  }
};

}  // namespace

size_t columns_scratch(const ConvolutionPlan& plan) {
  size_t bytes = 0;
  visit_compute(plan.dtype, [&]<class T>(T) { bytes = static_cast<size_t>(Columns<T>{plan}.lay_out(nullptr)) * sizeof(T); });
  return align_up(bytes);
}

void convolve_columns(const Queue& queue, const ConvolutionPlan& plan, void* out_data, void* in_data, void* weight_data,
                      const void* bias_data, char* workspace) {
  char *const out = static_cast<char*>(out_data), *const in = static_cast<char*>(in_data);
  const char* const bias = static_cast<const char*>(bias_data);
  const auto size = static_cast<int64_t>(size_of(plan.dtype));
  visit_compute(plan.dtype, [&]<class T>(T) {
    char* const scratch = workspace + plan.weight_bytes * static_cast<size_t>(plan.weights());
    const int64_t group = plan.oc / plan.groups * plan.seen(), weight_elements = plan.oc * plan.seen();
    const bool own_type = plan.dtype == dtype_of<T>();
    const bool gradient = plan.part == ConvolutionPart::Weight;
    // The weight as T.
    const T* weight = reinterpret_cast<const T*>(own_type ? weight_data : workspace);
    if (!own_type && !gradient) pack_to<T>(plan.dtype)(workspace, weight_data, 1, weight_elements);

    const int64_t blocks = plan.part == ConvolutionPart::Forward ? (plan.out_places() + plan.places - 1) / plan.places : 1;
    const int64_t tasks = (gradient ? plan.runs : plan.n) * plan.groups * blocks;
    const double work = static_cast<double>(plan.n * plan.oc) * static_cast<double>(plan.out_places() * plan.seen());
    const int64_t slots = work < 100e3 ? 1 : plan.slots;
    parallel_for(slots, 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot) {
        Columns<T> columns{plan};
        columns.lay_out(reinterpret_cast<T*>(scratch + slot * static_cast<int64_t>(plan.scratch_bytes)));
        const auto in_at = [&](int64_t image, int64_t g) { return in + (image * plan.ic + g * columns.inputs) * columns.in_places * size; };
        const auto out_at = [&](int64_t image, int64_t g) {
          return out + (image * plan.oc + g * columns.outputs) * columns.out_places * size;
        };
        for (int64_t task = tasks * slot / slots; task < tasks * (slot + 1) / slots; ++task) {
          const int64_t b = task % blocks, g = task / blocks % plan.groups, image = task / blocks / plan.groups;
          if (plan.part == ConvolutionPart::Forward) {
            const int64_t first = b * plan.places;
            columns.forward(out_at(image, g), in_at(image, g), weight + g * group, bias ? bias + g * columns.outputs * size : nullptr,
                            first, std::min(plan.places, columns.out_places - first));
          } else if (plan.part == ConvolutionPart::Input) {
            columns.gradient_of_input(in_at(image, g), out_at(image, g), weight + g * group);
          } else {
            const int64_t run = image;
            T* const sums = reinterpret_cast<T*>(workspace + run * static_cast<int64_t>(plan.weight_bytes)) + g * group;
            std::fill(sums, sums + group, T(0));
            for (int64_t i = plan.n * run / plan.runs; i < plan.n * (run + 1) / plan.runs; ++i)
              columns.gradient_of_weight(sums, out_at(i, g), in_at(i, g));
          }
        }
      }
    });
    if (!gradient) return;
    T* const sums = reinterpret_cast<T*>(workspace);
    for (int64_t run = 1; run < plan.runs; ++run)
      Columns<T>::add(sums, reinterpret_cast<const T*>(workspace + run * static_cast<int64_t>(plan.weight_bytes)), weight_elements);
    unpack_from<T>(plan.dtype)(weight_data, 1, sums, weight_elements);
  });
}

}  // namespace tandem::kernels::cpu
