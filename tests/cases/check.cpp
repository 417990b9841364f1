#include "cases/check.h"

#include <cmath>
#include <cstring>

#include "cases/notes.h"
#include "support/guarded_memory.h"

namespace tandem::cases {
namespace {

constexpr DType kAll[] = {kFloat32, kFloat64, kFloat16, kBFloat16, kUInt8, kInt8, kInt16, kInt32, kInt64, kBool};

/// How far a result may be from the reference, relative and absolute, before the struct's own factor.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case kFloat64: return 1e-11;
    case kFloat32: return 2e-6;
    case kFloat16: return 2e-3;
    case kBFloat16: return 1.6e-2;
    default: return 0;
  }
}

/// The samples, the same each time.
std::vector<Sample> samples_of(const Operation& operation) {
  manual_seed(std::hash<std::string>()(operation.name));
  return operation.samples();
}

Tensor converted(const Tensor& x, DType dtype) {
  if (!x.is_floating_point() || x.dtype() == dtype) return x;
  if (is_floating(dtype)) return x.to(dtype);
  if (dtype == kBool) return x > 0;
  const Tensor whole = ceil(abs(x));  // away from zero, so that a divisor stays one
  return (dtype == kUInt8 ? whole : whole * sign(x)).to(dtype);
}

Arguments in_dtype(const Arguments& arguments, DType dtype) {
  return map(arguments, [&](const Tensor& x) { return converted(x, dtype); });
}

/// The reference for the values that the arguments have in `dtype`.
Results reference_of(const Operation& operation, const Arguments& arguments, DType dtype) {
  return operation.reference(map(arguments, [&](const Tensor& x) { return x.is_floating_point() ? converted(x, dtype).to(kFloat64) : x; }));
}

DType expected_dtype(Gives gives, DType dtype, const Tensor& reference) {
  if (reference.dtype() != kFloat64) return reference.dtype();
  switch (gives) {
    case Gives::Floating: return is_floating(dtype) ? dtype : get_default_dtype();
    case Gives::Wide: return is_floating(dtype) ? dtype : kInt64;
    default: return dtype;
  }
}

/// Empty where they agree.
std::string difference(const Tensor& ours, const Tensor& reference, double factor) {
  if (!(ours.sizes() == reference.sizes())) return str("sizes ", ours.sizes(), ", reference ", reference.sizes());
  // Rounded as the result is: what a half type cannot hold is infinite on both sides, what an integer cannot hold wraps.
  const Tensor rounded =
      is_floating(ours.dtype()) || !reference.is_floating_point() ? reference.to(ours.dtype()) : reference.to(kInt64).to(ours.dtype());
  const auto a = doubles(ours), b = doubles(rounded);
  const double tolerance = tolerance_of(ours.dtype()) * factor;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i])))) return str("element ", i, " is ", a[i], ", reference ", b[i]);
  }
  return "";
}

void compare(const Operation& operation, const Sample& sample, DType dtype, Device device, Notes& notes) {
  const Results expected = reference_of(operation, sample.arguments, dtype);
  const Results ours = run(operation.run, on_device(in_dtype(sample.arguments, dtype), device), device);
  if (ours.size() != expected.size()) return notes.add(str("gives ", ours.size(), " tensors, reference ", expected.size()));
  for (size_t i = 0; i < ours.size(); ++i) {
    const DType wanted = expected_dtype(operation.gives, dtype, expected[i]);
    if (operation.gives != Gives::Any && ours[i].dtype() != wanted) notes.add(str("gives ", ours[i].dtype(), ", not ", wanted));
    const std::string what = difference(ours[i], expected[i], operation.tolerance);
    notes.add(what.empty() || ours.size() == 1 ? what : str("result ", i, ": ", what));
  }
}

DType first_dtype(const Operation& operation) {
  for (const DType dtype : kAll)
    if (has(operation.dtypes, dtype)) return dtype;
  return kFloat32;
}

bool depends_on_dtype(const Sample& sample) {
  bool floating = false;
  for (const Argument& argument : sample.arguments)
    (void)argument.map([&](const Tensor& x) {
      floating |= x.is_floating_point();
      return x;
    });
  return floating;
}

// --- Layouts: each gives a tensor of the same sizes; the first two of the same values

Tensor transposed(const Tensor& x) {
  Shape reversed;
  for (int64_t d = x.dim(); d-- > 0;) reversed.push_back(d);
  return x.permute(reversed).contiguous().permute(reversed);
}

Tensor with_gaps(const Tensor& x) {
  if (x.dim() == 0) return stack({x, x})[1];  // a 0-dim tensor behind an offset
  Shape sizes = x.sizes();
  sizes[sizes.size() - 1] = 2 * sizes.back() + 1;
  const Tensor room = zeros(sizes, {.dtype = x.dtype(), .device = x.device()});
  const Tensor part = room.slice(-1, 1, {}, 2);
  part.copy_(x);
  return part;
}

Tensor expanded(const Tensor& x) {
  if (x.dim() == 0 || x.numel() == 0) return x;
  return x.narrow(0, 0, 1).clone().expand(x.sizes());
}

// --- Gradients

bool takes_gradient(const Tensor& x) { return x.is_floating_point(); }

/// The arguments in float64 on a device, their floating tensors as leaves.
struct Leaves {
  Arguments arguments;
  std::vector<Tensor> tensors;

  Leaves(const Arguments& from, Device device, bool requires_grad) {
    arguments = map(from, [&](const Tensor& x) {
      if (!takes_gradient(x)) return x.to(device);
      Tensor leaf = x.detach().to(device, kFloat64, {.copy = true});
      if (requires_grad) leaf.requires_grad_();
      tensors.push_back(leaf);
      return leaf;
    });
  }
};

std::vector<Tensor> random_like(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& x : tensors) out.push_back((rand(x.sizes(), kFloat64) * 2 - 1).to(x.device()));
  return out;
}

/// The results that have a history, by their places among all; an error where none has.
using Places = std::vector<size_t>;
std::vector<Tensor> recorded_results(const Operation& operation, const Arguments& arguments, Places& places) {
  std::vector<Tensor> out;
  const Results all = operation.run(arguments);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].requires_grad()) continue;
    places.push_back(i);
    out.push_back(all[i]);
  }
  if (out.empty()) fail("no result has a history");
  return out;
}
std::vector<Tensor> results_at(const Operation& operation, const Arguments& arguments, const Places& places) {
  const Results all = operation.run(arguments);
  std::vector<Tensor> out;
  for (const size_t place : places) out.push_back(all.at(place));
  return out;
}

/// The sum of products, pair by pair; undefined tensors count as zero. `size` gets the sum of the magnitudes.
double dot_of(const std::vector<Tensor>& a, const std::vector<Tensor>& b, double* size = nullptr) {
  double sum = 0, magnitudes = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() || !b[i].defined()) continue;
    const auto x = doubles(a[i].detach()), y = doubles(b[i].detach());
    for (size_t k = 0; k < x.size(); ++k) {
      sum += x[k] * y[k];
      magnitudes += std::abs(x[k] * y[k]);
    }
  }
  if (size) *size = magnitudes;
  return sum;
}

/// The arguments with each floating tensor moved by `step` times its direction.
Arguments moved(const Arguments& from, const std::vector<Tensor>& directions, double step, Device device) {
  size_t i = 0;
  return map(from, [&](const Tensor& x) {
    if (!takes_gradient(x)) return x.to(device);
    return x.detach().to(device, kFloat64) + directions[i++] * step;
  });
}

constexpr double kStep = 1e-6;

std::string disagreement(double analytic, double numeric, double size) {
  if (std::abs(analytic - numeric) <= 3e-6 * (1 + size)) return "";
  return str("along a random direction backward gives ", analytic, ", central differences ", numeric);
}

void check_gradient(const Operation& operation, const Sample& sample, Device device, Notes& notes) {
  const Leaves leaves(sample.arguments, device, true);
  Places places;
  const auto results = recorded_results(operation, leaves.arguments, places);
  const auto weights = random_like(results);
  const auto gradients = grad(results, leaves.tensors, {.grad_outputs = weights, .allow_unused = true});
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined() && !(gradients[i].sizes() == leaves.tensors[i].sizes()))
      return notes.add(str("the gradient of tensor ", i, " has sizes ", gradients[i].sizes()));
  const auto directions = random_like(leaves.tensors);
  double size = 0;
  const double analytic = dot_of(gradients, directions, &size);
  const NoGradGuard no_grad;
  const auto value = [&](double step) {
    return dot_of(results_at(operation, moved(sample.arguments, directions, step, device), places), weights);
  };
  notes.add(disagreement(analytic, (value(kStep) - value(-kStep)) / (2 * kStep), size));
}

void check_second_gradient(const Operation& operation, const Sample& sample, Device device, Notes& notes) {
  const Leaves leaves(sample.arguments, device, true);
  Places places;
  const auto results = recorded_results(operation, leaves.arguments, places);
  auto weights = random_like(results);
  for (Tensor& weight : weights) weight.requires_grad_();
  const auto first = grad(results, leaves.tensors, {.grad_outputs = weights, .create_graph = true, .allow_unused = true});
  const auto probes = random_like(leaves.tensors);
  const auto directions = random_like(leaves.tensors), weight_directions = random_like(weights);
  std::vector<Tensor> recorded, recorded_probes;
  for (size_t i = 0; i < first.size(); ++i) {
    if (!first[i].defined() || !first[i].requires_grad()) continue;
    recorded.push_back(first[i]);
    recorded_probes.push_back(probes[i]);
  }
  double analytic = 0, size = 0;
  if (!recorded.empty()) {
    std::vector<Tensor> wanted = leaves.tensors, along = directions;
    wanted.insert(wanted.end(), weights.begin(), weights.end());
    along.insert(along.end(), weight_directions.begin(), weight_directions.end());
    analytic = dot_of(grad(recorded, wanted, {.grad_outputs = recorded_probes, .allow_unused = true}), along, &size);
  }
  const auto value = [&](double step) {
    const Leaves there(moved(sample.arguments, directions, step, device), device, true);
    std::vector<Tensor> incoming;
    for (size_t i = 0; i < weights.size(); ++i) incoming.push_back(weights[i].detach() + weight_directions[i] * step);
    return dot_of(grad(results_at(operation, there.arguments, places), there.tensors, {.grad_outputs = incoming, .allow_unused = true}),
                  probes);
  };
  notes.add(disagreement(analytic, (value(kStep) - value(-kStep)) / (2 * kStep), size));
}

bool has_leaves(const Sample& sample, Device device) {
  return sample.differentiable && !Leaves(sample.arguments, device, false).tensors.empty();
}

/// Results and gradients, as bytes on the host, with all memory poisoned; everything made on the way is let go of.
std::vector<std::vector<char>> bytes_of(const Operation& operation, const Sample& sample, DType dtype, bool gaps, Device device,
                                        unsigned char poison, Notes& notes) {
  std::vector<std::vector<char>> out;
  const testing::GuardedMemory guarded(poison);
  {
    std::vector<Tensor> leaves;
    const bool backward = operation.gradient && sample.differentiable && is_floating(dtype);
    const Arguments arguments = map(in_dtype(sample.arguments, dtype), [&](const Tensor& x) {
      Tensor there = gaps ? with_gaps(x.to(device)) : x.to(device, {.copy = true});
      if (!backward || !x.is_floating_point()) return there;
      there = there.detach();
      leaves.push_back(there.requires_grad_());
      return there;
    });
    Results results = run(operation.run, arguments, device);
    std::vector<Tensor> differentiable, ones;
    for (const Tensor& result : results) {
      if (!result.requires_grad()) continue;
      differentiable.push_back(result);
      ones.push_back(ones_like(result.detach()));
    }
    if (!differentiable.empty())
      for (const Tensor& gradient : grad(differentiable, leaves, {.grad_outputs = ones, .allow_unused = true}))
        if (gradient.defined()) results.push_back(gradient);
    for (const Tensor& result : results) {
      const Tensor host = result.detach().contiguous().cpu();
      const auto* data = static_cast<const char*>(host.impl().data);
      out.emplace_back(data, data + host.nbytes());
    }
  }
  if (const int64_t overruns = guarded.overruns()) notes.add(str(overruns, " buffers were written outside of their bounds"));
  return out;
}

/// Convolutions on real GPUs give the same bits each time, in its scope.
struct SameEachTime {
  bool before = backends::cudnn::deterministic.exchange(true);
  ~SameEachTime() { backends::cudnn::deterministic.store(before); }
};

}  // namespace

Findings check_values(const Operation& operation, Device device) {
  Notes notes(operation);
  const DType dtype = first_dtype(operation);
  size_t number = 0;
  for (const Sample& sample : samples_of(operation)) {
    notes.about(sample, number++, "");
    notes.guard([&] {
      compare(operation, sample, dtype, device, notes);
      if (!operation.in_place) return;
      const Arguments there = on_device(in_dtype(sample.arguments, dtype), device);
      const Tensor fresh = run(operation.run, there, device)[0];
      if (!(fresh.sizes() == there[0].as<Tensor>().sizes()) || fresh.dtype() != dtype) return;
      Arguments changing = there;
      changing[0] = Argument(there[0].as<Tensor>().clone());
      const Tensor changed = run(operation.in_place, changing, device)[0];
      if (!changed.is_same(changing[0].as<Tensor>())) notes.add("the in-place form gives another tensor");
      const std::string what = difference(changed, fresh.cpu(), 0);
      notes.add(what.empty() ? what : "in place: " + what);
    });
  }
  return notes.take();
}

Findings check_dtypes(const Operation& operation, Device device) {
  Notes notes(operation);
  for (const DType dtype : kAll) {
    size_t number = 0;
    for (const Sample& sample : samples_of(operation)) {
      notes.about(sample, number++, name(dtype));
      if (!depends_on_dtype(sample) || has(operation.without_reference, dtype)) continue;
      if (has(operation.dtypes, dtype)) {
        notes.guard([&] { compare(operation, sample, dtype, device, notes); });
        continue;
      }
      try {
        (void)run(operation.run, on_device(in_dtype(sample.arguments, dtype), device), device);
        notes.add("is not refused");
      } catch (const Error&) {
      }
      break;  // one refusal tells
    }
  }
  return notes.take();
}

Findings check_layouts(const Operation& operation, Device device) {
  Notes notes(operation);
  const DType dtype = first_dtype(operation);
  struct Layout {
    const char* name;
    Tensor (*make)(const Tensor&);
  };
  for (const Layout& layout : {Layout{"transposed", transposed}, Layout{"with gaps", with_gaps}, Layout{"expanded", expanded}}) {
    if (layout.make == expanded && !operation.expands) continue;
    size_t number = 0;
    for (const Sample& sample : samples_of(operation)) {
      notes.about(sample, number++, layout.name);
      notes.guard([&] {
        // The layout is made where the operation runs: a copy to another device would make it dense.
        const Arguments there = map(on_device(in_dtype(sample.arguments, dtype), device), layout.make);
        const Results ours = run(operation.run, there, device);
        const Results expected =
            reference_of(operation, map(sample.arguments, [&](const Tensor& x) { return layout.make(x).contiguous(); }), dtype);
        for (size_t i = 0; i < ours.size(); ++i) notes.add(difference(ours[i], expected.at(i), operation.tolerance));
      });
    }
  }
  return notes.take();
}

Findings check_gradients(const Operation& operation, Device device) {
  Notes notes(operation);
  if (!operation.gradient) return {};
  size_t number = 0;
  for (const Sample& sample : samples_of(operation)) {
    notes.about(sample, number++, "gradient");
    if (has_leaves(sample, device)) notes.guard([&] { check_gradient(operation, sample, device, notes); });
  }
  return notes.take();
}

Findings check_second_gradients(const Operation& operation, Device device) {
  Notes notes(operation);
  if (!operation.gradient || !operation.twice) return {};
  size_t number = 0;
  for (const Sample& sample : samples_of(operation)) {
    notes.about(sample, number++, "second gradient");
    if (has_leaves(sample, device)) notes.guard([&] { check_second_gradient(operation, sample, device, notes); });
  }
  return notes.take();
}

Findings check_memory(const Operation& operation, Device device) {
  Notes notes(operation);
  const DType dtype = first_dtype(operation);
  // Bits can be compared only where they are the same each time.
  const bool compared = operation.repeats || device.is_cpu() || cuda::get_device_properties(device).is_virtual;
  const SameEachTime deterministic;
  size_t number = 0;
  for (const Sample& sample : samples_of(operation)) {
    for (const bool gaps : {false, true}) {
      notes.about(sample, number, gaps ? "memory, with gaps" : "memory");
      notes.guard([&] {
        // With two poisons: a byte that was left unwritten, or read before it was written, differs.
        const auto first = bytes_of(operation, sample, dtype, gaps, device, 0xA5, notes),
                   second = bytes_of(operation, sample, dtype, gaps, device, 0x3E, notes);
        if (compared && first != second) notes.add("the results depend on what memory held before");
      });
    }
    ++number;
  }
  return notes.take();
}

Findings check_coverage(const Operation& operation) {
  bool zero_dim = !operation.zero_dim, empty_input = !operation.empty_input;
  for (const Sample& sample : samples_of(operation))
    (void)map(sample.arguments, [&](const Tensor& x) {
      zero_dim |= x.dim() == 0;
      empty_input |= x.numel() == 0;
      return x;
    });
  Findings findings;
  if (!zero_dim) findings.push_back(operation.name + " has no 0-dim input: add one, or say zero_dim = false");
  if (!empty_input) findings.push_back(operation.name + " has no empty input: add one, or say empty_input = false");
  return findings;
}

}  // namespace tandem::cases
