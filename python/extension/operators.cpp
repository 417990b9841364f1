// Python's operators on tensors.
#include "operators.h"

#include "bindings.h"
#include "data.h"

namespace tandem::python {
namespace {

/// Whether an operator may leave this operand to tandem: a tensor, a real number, or an array of NumPy's. Others get their own turn.
bool is_operand(PyObject* object) {
  if (is_tensor(object) || PyFloat_Check(object) || PyLong_Check(object)) return true;
  return PyNumber_Check(object) && !PyComplex_Check(object);
}

/// The operand that an object is; `array` holds the elements of one of NumPy's.
Operand operand_of(PyObject* object, Tensor& array, Site site) {
  if (is_tensor(object)) return {tensor_of(object), site};
  if (PyFloat_Check(object) || PyLong_Check(object) || !PyObject_CheckBuffer(object)) return {to_scalar(object), site};
  array = tensor_of_buffer(object, true, site);
  if (array.dim() == 0) return {array.item(site), site};
  return {array, site};
}

using Binary = Tensor (*)(const Operand&, const Operand&, Site);
template <Binary f>
PyObject* binary(PyObject* a, PyObject* b) {
  if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    const AtCaller site;
    Tensor arrays[2];
    const Operand left = operand_of(a, arrays[0], site), right = operand_of(b, arrays[1], site);
    if (!is_large(a) && !is_large(b)) return wrap(f(left, right, site));
    Tensor result;
    {
      const WithoutLock unlocked;
      result = f(left, right, site);
    }
    return wrap(std::move(result));
  });
}

/// The same of an operation whose operands may change places: the tensor is the first, as PyTorch records it.
template <Binary f>
PyObject* commutative(PyObject* a, PyObject* b) {
  return is_tensor(a) || !is_tensor(b) ? binary<f>(a, b) : binary<f>(b, a);
}

using InPlace = const Tensor& (Tensor::*)(const Operand&, Site) const;
template <InPlace f>
PyObject* in_place(PyObject* a, PyObject* b) {
  if (!is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    const AtCaller site;
    Tensor array;
    (tensor_of(a).*f)(operand_of(b, array, site), site);
    return Py_NewRef(a);
  });
}

using Unary = Tensor (*)(const Input&, Site);
template <Unary f>
PyObject* unary(PyObject* a) {
  return guarded([&] {
    const AtCaller site;
    return wrap(f(Input(tensor_of(a), site), site));
  });
}

PyObject* invert(PyObject* a) {
  return guarded([&] {
    if (is_floating(tensor_of(a).dtype())) fail<TypeError>("~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return unary<bitwise_not>(a);
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<pow>(a, b);
}
PyObject* power_in_place(PyObject* a, PyObject* b, PyObject*) { return in_place<&Tensor::pow_>(a, b); }

PyObject* matrix_multiply(PyObject* a, PyObject* b) {
  if (!is_tensor(a) || !is_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    const AtCaller site;
    Tensor result;
    {
      const WithoutLock unlocked(is_large(a) || is_large(b));
      result = tensor_of(a).matmul(tensor_of(b), site);
    }
    return wrap(std::move(result));
  });
}

PyObject* positive(PyObject* a) {
  return guarded([&] { return wrap(tensor_of(a).positive(AtCaller())); });
}
PyObject* divide_modulo(PyObject* a, PyObject* b) {
  const Object quotient = Object::take(binary<floor_divide>(a, b));
  if (!quotient || quotient.get() == Py_NotImplemented) return Py_XNewRef(quotient.get());
  const Object rest = Object::take(binary<remainder>(a, b));
  return rest ? PyTuple_Pack(2, quotient.get(), rest.get()) : nullptr;
}

/// The value of a tensor with one element, as Python converts it.
Scalar value_of(PyObject* self, const char* what) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.numel() != 1) fail<ValueError>("only one element tensors can be converted to Python ", what);
  return tensor.item(AtCaller());
}
int truth(PyObject* self) {
  return guarded_int([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.numel() == 0) fail("Boolean value of Tensor with no values is ambiguous");
    if (tensor.numel() > 1) fail("Boolean value of Tensor with more than one value is ambiguous");
    const AtCaller site;
    return static_cast<bool>(tensor) ? 1 : 0;
  });
}
PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Scalar value = value_of(self, "scalars");
    return value.is_floating() ? PyLong_FromDouble(value.to<double>()) : PyLong_FromLongLong(value.to<int64_t>());
  });
}
PyObject* as_float(PyObject* self) {
  return guarded([&] { return PyFloat_FromDouble(value_of(self, "scalars").to<double>()); });
}
PyObject* as_index(PyObject* self) {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.numel() != 1 || is_floating(tensor.dtype()))
      fail<TypeError>("only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(tensor.item(AtCaller()).to<int64_t>());
  });
}

PyNumberMethods numbers() {
  PyNumberMethods slots{};
  slots.nb_add = commutative<add>;
  slots.nb_subtract = binary<sub>;
  slots.nb_multiply = commutative<mul>;
  slots.nb_remainder = binary<remainder>;
  slots.nb_divmod = divide_modulo;
  slots.nb_power = power;
  slots.nb_negative = unary<neg>;
  slots.nb_positive = positive;
  slots.nb_absolute = unary<abs>;
  slots.nb_bool = truth;
  slots.nb_invert = invert;
  slots.nb_lshift = binary<bitwise_left_shift>;
  slots.nb_rshift = binary<bitwise_right_shift>;
  slots.nb_and = binary<bitwise_and>;
  slots.nb_xor = binary<bitwise_xor>;
  slots.nb_or = binary<bitwise_or>;
  slots.nb_int = as_int;
  slots.nb_float = as_float;
  slots.nb_index = as_index;
  slots.nb_floor_divide = binary<floor_divide>;
  slots.nb_true_divide = binary<div>;
  slots.nb_matrix_multiply = matrix_multiply;
  slots.nb_inplace_add = in_place<&Tensor::add_>;
  slots.nb_inplace_subtract = in_place<&Tensor::sub_>;
  slots.nb_inplace_multiply = in_place<&Tensor::mul_>;
  slots.nb_inplace_remainder = in_place<&Tensor::remainder_>;
  slots.nb_inplace_power = power_in_place;
  slots.nb_inplace_lshift = in_place<&Tensor::bitwise_left_shift_>;
  slots.nb_inplace_rshift = in_place<&Tensor::bitwise_right_shift_>;
  slots.nb_inplace_and = in_place<&Tensor::bitwise_and_>;
  slots.nb_inplace_xor = in_place<&Tensor::bitwise_xor_>;
  slots.nb_inplace_or = in_place<&Tensor::bitwise_or_>;
  slots.nb_inplace_floor_divide = in_place<&Tensor::floor_divide_>;
  slots.nb_inplace_true_divide = in_place<&Tensor::div_>;
  return slots;
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  if (!is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  switch (op) {
    case Py_LT: return binary<lt>(a, b);
    case Py_LE: return binary<le>(a, b);
    case Py_EQ: return binary<eq>(a, b);
    case Py_NE: return binary<ne>(a, b);
    case Py_GT: return binary<gt>(a, b);
    default: return binary<ge>(a, b);
  }
}

}  // namespace

void add_operators(PyTypeObject& type) {
  static PyNumberMethods slots = numbers();
  type.tp_as_number = &slots;
  type.tp_richcompare = compare;
}

}  // namespace tandem::python
