// Operations that make tensors out of sizes and numbers.
#include "ops/creation.h"

#include "base/cgroup.h"
#include "exported/call.h"
#include "ops/random.h"

namespace tandem::exported {
namespace {

/// Sizes to make a tensor of. Error for more than the machine's memory.
const Shape& possible(const Shape& sizes, const Options& options) {
  double bytes = static_cast<double>(size_of(options.dtype.value_or(kFloat32)));
  for (const int64_t size : sizes) bytes *= static_cast<double>(size);
  static const auto machine = static_cast<double>(tandem::detail::machine_memory());
  if (machine > 0 && bytes > machine) fail<OutOfMemoryError>("its result would have the sizes ", sizes, ", more than the machine's memory");
  return sizes;
}

/// What the new tensor is to be: as `self`, where there is one, but for what the call says.
Options options_of(Call& call) {
  Options options = call.options();
  if (call.has("self")) {
    const Tensor self = call.tensor("self");
    if (!options.dtype) options.dtype = self.dtype();
    options.device = self.device();
  }
  return options;
}
Shape sizes_of(Call& call) { return call.has("size") ? call.ints("size") : call.tensor("self").sizes(); }

using Make = Tensor (*)(const Shape&, const Options&, Site);
/// zeros, zeros_like, new_zeros, and the others that take sizes alone.
template <Make kMake>
void made(Call& call) {
  const Options options = options_of(call);
  const Shape sizes = sizes_of(call);
  call.give(kMake(possible(sizes, options), options, call.site()));
}
void filled(Call& call) {
  Options options = options_of(call);
  const Scalar value = call.number("fill_value");
  if (!options.dtype) options.dtype = value.dtype();
  const Shape sizes = sizes_of(call);
  call.give(full(possible(sizes, options), value, options, call.site()));
}
void one_number(Call& call) {
  const Scalar value = call.number("s");
  Options options = call.options();
  if (!options.dtype) options.dtype = kFloat32;
  call.give(full({}, value, options, call.site()));
}
void zeroed(Call& call) { call.give(zeros_like(call.tensor("self"), {}, call.site())); }
void filled_in(Call& call) {
  const Tensor x = call.tensor("self");
  call.give(fill(x, call.operand("value"), call.site()));
}

void counted(Call& call) {
  const Scalar start = call.number("start", 0), end = call.number("end"), step = call.number("step", 1);
  const double count = (end.to<double>() - start.to<double>()) / step.to<double>();
  const Options options = call.options();
  if (count > 0) possible({count < 1e18 ? static_cast<int64_t>(count) : int64_t{1} << 60}, options);
  call.give(arange(start, end, step, options, call.site()));
}
void spaced(Call& call) {
  const Options options = call.options();
  const int64_t steps = call.integer("steps");
  possible({steps}, options);
  const Operand start = call.operand("start"), end = call.operand("end");
  call.give(linspace(start, end, steps, options, call.site()));
}
void unit(Call& call) {
  const Options options = call.options();
  const int64_t rows = call.integer("n"), columns = call.integer("m", rows);
  possible({rows, columns}, options);
  call.give(eye(rows, columns, options, call.site()));
}

Tensor uniform(const Shape& sizes, const Options& options, Site site) { return rand(sizes, options, site); }
Tensor gaussian(const Shape& sizes, const Options& options, Site site) { return randn(sizes, options, site); }
Tensor no_values(const Shape& sizes, const Options& options, Site site) { return empty(sizes, options, site); }
Tensor of_zeros(const Shape& sizes, const Options& options, Site site) { return zeros(sizes, options, site); }
Tensor of_ones(const Shape& sizes, const Options& options, Site site) { return ones(sizes, options, site); }

constexpr OperatorRow kRows[] = {
    {"arange", counted},
    {"empty", made<no_values>},
    {"empty_like", made<no_values>},
    {"eye", unit},
    {"fill", filled_in},
    {"full", filled},
    {"full_like", filled},
    {"linspace", spaced},
    {"new_empty", made<no_values>},
    {"new_full", filled},
    {"new_ones", made<of_ones>},
    {"new_zeros", made<of_zeros>},
    {"ones", made<of_ones>},
    {"ones_like", made<of_ones>},
    {"rand", made<uniform>},
    {"rand_like", made<uniform>},
    {"randn", made<gaussian>},
    {"randn_like", made<gaussian>},
    {"scalar_tensor", one_number},
    {"zero", zeroed},
    {"zeros", made<of_zeros>},
    {"zeros_like", made<of_zeros>},
};

}  // namespace

std::span<const OperatorRow> creation_operators() { return kRows; }

}  // namespace tandem::exported
