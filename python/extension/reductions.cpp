// Variance and standard deviation: PyTorch takes `unbiased` where tandem takes `correction`.
#include "reductions.h"

#include "bindings.h"

namespace tandem::python {
namespace {

enum class Which { Var, Std, VarMean, StdMean };

/// One of the four, by its forms: (unbiased), (dim, unbiased, keepdim), (dim=None, *, correction=1, keepdim=False).
struct Family {
  Parameter all[3], of_dims[5], corrected[5];
  Signature signatures[3];
  Callable callable;

  Family(const char* name, bool method)
      : all{{method ? "self" : "input", Kind::Tensor}, {"unbiased", Kind::Bool}, {"out", Kind::Tensor, true, true}},
        of_dims{{method ? "self" : "input", Kind::Tensor},
                {"dim", Kind::Shape, true},
                {"unbiased", Kind::Bool},
                {"keepdim", Kind::Bool, true},
                {"out", Kind::Tensor, true, true}},
        corrected{{method ? "self" : "input", Kind::Tensor},
                  {"dim", Kind::Shape, true},
                  {"correction", Kind::Double, true, true},
                  {"keepdim", Kind::Bool, true, true},
                  {"out", Kind::Tensor, true, true}},
        signatures{{all, "Tensor input, bool unbiased"},
                   {of_dims, "Tensor input, tuple of ints dim, bool unbiased, bool keepdim=False"},
                   {corrected, "Tensor input, tuple of ints dim=None, *, Number correction=1, bool keepdim=False"}},
        callable{name, signatures} {
    prepare(callable);
  }
};

template <Which which>
PyObject* call(const Tensor& x, const Shape& dims, double correction, bool keepdim, PyObject* out, Site site) {
  if constexpr (which == Which::Var) return into(out, var(x, dims, correction, keepdim, site), site);
  else if constexpr (which == Which::Std) return into(out, std(x, dims, correction, keepdim, site), site);
  else if constexpr (which == Which::VarMean) {
    const VarMean result = var_mean(x, dims, correction, keepdim, site);
    return wrap_defined({result.var, result.mean});
  } else {
    const StdMean result = std_mean(x, dims, correction, keepdim, site);
    return wrap_defined({result.std, result.mean});
  }
}

template <Which which, bool method>
PyObject* reduction(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  static constexpr const char* titles[] = {"var", "std", "var_mean", "std_mean"};
  static Family& family = *new Family(titles[static_cast<int>(which)], method);
  PyObject* const own = method ? self : nullptr;
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (a.fit(family.signatures[0], own, args, count, names)) {
      const AtCaller site;
      return call<which>(tensor_of(a[0]), {}, to_bool(a[1]) ? 1 : 0, false, a[2], site);
    }
    if (a.fit(family.signatures[1], own, args, count, names)) {
      const AtCaller site;
      return call<which>(tensor_of(a[0]), to_shape(a[1]), to_bool(a[2]) ? 1 : 0, given(a[3]) && to_bool(a[3]), a[4], site);
    }
    if (a.fit(family.signatures[2], own, args, count, names)) {
      const AtCaller site;
      return call<which>(tensor_of(a[0]), to_shape(a[1]), given(a[2]) ? to_double(a[2]) : 1, given(a[3]) && to_bool(a[3]), a[4], site);
    }
    return refuse(family.callable, own, args, count, names);
  });
}

}  // namespace

void register_reductions() {
  static constexpr const char* doc = "(input, dim=None, *, correction=1, keepdim=False)";
  add_to(Place::Function, fast("var", reduction<Which::Var, false>, doc));
  add_to(Place::Function, fast("std", reduction<Which::Std, false>, doc));
  add_to(Place::Function, fast("var_mean", reduction<Which::VarMean, false>, doc));
  add_to(Place::Function, fast("std_mean", reduction<Which::StdMean, false>, doc));
  add_to(Place::Method, fast("var", reduction<Which::Var, true>, doc));
  add_to(Place::Method, fast("std", reduction<Which::Std, true>, doc));
}

}  // namespace tandem::python
