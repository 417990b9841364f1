#include "libtorch/serialize_value.h"

namespace torch::detail {

PlainValue plain(const tandem::Tensor& value) { return value.defined() ? PlainValue(value) : PlainValue(); }

void take(const PlainValue& from, PlainValue& to) { to = from; }

void take(const PlainValue& from, bool& to) { to = from.to_bool(); }

void take(const PlainValue& from, std::string& to) { to = from.to_text(); }

void take(const PlainValue& from, tandem::Tensor& to) { to = from.is_none() ? tandem::Tensor() : from.to_tensor(); }

}  // namespace torch::detail

namespace torch {

bool IValue::isNone() const { return value_.is_none(); }

bool IValue::isBool() const { return value_.kind() == Kind::Bool; }

bool IValue::isInt() const { return value_.kind() == Kind::Integer; }

bool IValue::isDouble() const { return value_.kind() == Kind::Real; }

bool IValue::isString() const { return value_.kind() == Kind::Text; }

bool IValue::isTensor() const { return value_.kind() == Kind::Tensor; }

bool IValue::isList() const { return value_.kind() == Kind::List; }

bool IValue::isTuple() const { return value_.kind() == Kind::Tuple; }

bool IValue::toBool() const { return value_.to_bool(); }

int64_t IValue::toInt() const { return value_.to_int(); }

double IValue::toDouble() const { return value_.to_double(); }

const std::string& IValue::toStringRef() const { return value_.to_text(); }

const tandem::Tensor& IValue::toTensor() const { return value_.to_tensor(); }

std::vector<tandem::Tensor> IValue::toTensorVector() const { return to<std::vector<tandem::Tensor>>(); }

std::vector<int64_t> IValue::toIntVector() const { return to<std::vector<int64_t>>(); }

std::vector<double> IValue::toDoubleVector() const { return to<std::vector<double>>(); }

}  // namespace torch
