// One call of a golden case: PyTorch's arguments bound to the names of a signature, and the table from names to calls.
//
// A row of the table is a signature as PyTorch's documentation writes it and a function:
//   table.add("sum(input, dim: ints, keepdim=False, *, dtype=None)", [](Call& c) { return c.input().sum(c.ints("dim"), c.flag("keepdim"));
//   });
// An argument may name its type, to tell overloads apart: Tensor, Tensors, int, ints, number, str, bool. Rows of one name are tried in
// order.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tandem.h"

namespace golden {

using namespace tandem;
using Json = nlohmann::json;

/// What a call returned, in order.
struct Results : std::vector<Tensor> {
  Results(Tensor one) { push_back(std::move(one)); }
  Results(std::vector<Tensor> many) : std::vector<Tensor>(std::move(many)) {}
  Results(ValuesIndices both) : std::vector<Tensor>{both.values, both.indices} {}
  Results(std::initializer_list<Tensor> list) : std::vector<Tensor>(list) {}
};

/// The project lacks this operation or argument: the case counts as skipped.
struct Lacking {
  std::string what;
};

/// Which of a case's float32 tensors are made in another dtype.
struct Lowered {
  enum Which { None, First, All } which = None;
  DType dtype = kBFloat16;
};

/// The tensors that a case names, on the device under test, each made once.
class Tensors {
 public:
  Tensors(const io::TensorMap& stored, Device device, Lowered lowered = {}) : stored_(stored), device_(device), lowered_(lowered) {}
  /// The tensor that `value` describes: {"tensor": key, "sizes": …, "strides": …, "offset": …}.
  const Tensor& at(const Json& value);
  /// The tensor made for `key`.
  [[nodiscard]] const Tensor& made(const std::string& key) const { return made_.at(key); }
  [[nodiscard]] bool has(const std::string& key) const { return made_.count(key) != 0; }
  /// Stored values, on the CPU.
  [[nodiscard]] Tensor stored(const Json& value) const;
  [[nodiscard]] Device device() const { return device_; }

 private:
  const io::TensorMap& stored_;
  Device device_;
  Lowered lowered_;
  int floats_ = 0;  // float32 tensors so far
  std::map<std::string, Tensor> made_;
};

/// Arguments by name. What was not given, and None, are "not there".
class Call {
 public:
  Call(std::map<std::string, Json> arguments, Tensors& tensors) : arguments_(std::move(arguments)), tensors_(tensors) {}

  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] const Json& json(const std::string& name) const;
  /// The argument called "input".
  [[nodiscard]] Tensor input() const { return tensor("input"); }
  [[nodiscard]] Tensor tensor(const std::string& name) const;
  /// The tensor, or an undefined one where it is not there.
  [[nodiscard]] Tensor tensor_or_none(const std::string& name) const { return has(name) ? tensor(name) : Tensor(); }
  [[nodiscard]] std::vector<Tensor> tensors(const std::string& name) const;
  [[nodiscard]] bool is_tensor(const std::string& name) const;
  [[nodiscard]] bool is_list(const std::string& name) const { return json(name).is_array(); }
  [[nodiscard]] bool is_text(const std::string& name) const { return json(name).is_string(); }
  [[nodiscard]] Scalar number(const std::string& name) const;
  [[nodiscard]] std::optional<Scalar> number_or_none(const std::string& name) const;
  [[nodiscard]] double real(const std::string& name) const { return number(name).to<double>(); }
  [[nodiscard]] int64_t integer(const std::string& name) const;
  [[nodiscard]] std::optional<int64_t> integer_or_none(const std::string& name) const;
  [[nodiscard]] bool flag(const std::string& name) const { return has(name) && number(name).to<bool>(); }
  /// A list of integers, or one integer as a list of one.
  [[nodiscard]] Shape ints(const std::string& name) const;
  /// The same, one integer standing `n` times.
  [[nodiscard]] Shape ints(const std::string& name, int n) const;
  [[nodiscard]] std::string text(const std::string& name) const { return json(name).get<std::string>(); }
  [[nodiscard]] std::optional<DType> dtype(const std::string& name = "dtype") const;
  [[nodiscard]] std::vector<Index> indices(const std::string& name) const;
  [[nodiscard]] Device device() const { return tensors_.device(); }
  /// Calls f with the tensor or the number.
  template <class F>
  auto with(const std::string& name, F f) const {
    if (is_tensor(name)) return f(Operand(hold(name)));
    return f(Operand(number(name)));
  }
  /// Options for a factory: dtype and device as given, else the device under test.
  [[nodiscard]] Options options() const { return {.dtype = dtype(), .device = device()}; }

 private:
  const Tensor& hold(const std::string& name) const;

  std::map<std::string, Json> arguments_;
  Tensors& tensors_;
};

/// A name and parameters, as PyTorch's documentation writes them: "sum(input, dim: ints, keepdim=False, *, dtype=None)".
class Signature {
 public:
  explicit Signature(const std::string& text);
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The arguments by name. Nothing where they don't fit, and why so.
  std::optional<std::map<std::string, Json>> bind(const Json& args, const Json& kwargs, std::string& why) const;

 private:
  struct Parameter {
    std::string name, type;
    Json default_value;
    bool required = true, keyword_only = false, rest = false;
  };
  std::string name_;
  std::vector<Parameter> parameters_;
};

/// From signatures to functions of a `Call` that give an R.
template <class R>
class TableOf {
 public:
  using Function = std::function<R(Call&)>;
  void add(const std::string& signature, Function function) {
    Signature parsed(signature);
    const std::string name = parsed.name();
    rows_[name].push_back({std::move(parsed), std::move(function)});
  }
  /// Calls the first row of that name that the arguments fit. Lacking where there is none.
  R call(const std::string& name, const Json& args, const Json& kwargs, Tensors& tensors) const {
    const auto rows = rows_.find(name);
    if (rows == rows_.end()) throw Lacking{name};
    std::string why;
    for (const Row& row : rows->second)
      if (auto bound = row.signature.bind(args, kwargs, why)) {
        Call call(std::move(*bound), tensors);
        return row.function(call);
      }
    throw Lacking{name + " with " + why};
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, rows] : rows_) all.push_back(name);
    return all;
  }

 private:
  struct Row {
    Signature signature;
    Function function;
  };
  std::map<std::string, std::vector<Row>> rows_;
};
using Table = TableOf<Results>;

// The rows, by subject; each in table_<subject>.cpp.
void add_creation(Table& table);
void add_pointwise(Table& table);
void add_reductions(Table& table);
void add_shapes(Table& table);
void add_indexing(Table& table);
void add_linalg(Table& table);
void add_network(Table& table);
void add_convolution(Table& table);
void add_losses(Table& table);

std::vector<std::string> module_names();
/// What a case of a module came to: empty where it passed.
std::string run_module(const std::string& name, const Json& test, const io::TensorMap& stored, Device device);

/// What a case of an optimizer came to: empty where it passed.
std::string run_optimizer(const std::string& name, const Json& test, const io::TensorMap& stored, Device device);
std::vector<std::string> optimizer_names();

/// An int or a list of them; not given where it is None or an empty list.
PerDim per_dim(const Call& c, const std::string& name);
OutputSize output_size(const Call& c);
/// `word` holds the text of a padding that is one.
ConvOptions conv_options(const Call& c, std::string& word);
std::optional<double> real_or_none(const Call& c, const char* name);
/// The argument called "reduction".
Reduction reduction(const Call& c);

/// Where the dtypes that a case's call gives under autocast are not PyTorch's; empty where they are. `answers`: its three, see autocast.py.
std::string different_under_autocast(const Table& table, const std::string& op, const Json& test, const io::TensorMap& stored,
                                     Device device, const std::string& answers);

/// Makes the tensors that `value` names, on the device; those for which `wanted` holds ask for their gradients.
void make_tensors(const Json& value, const std::function<bool(const std::string& key)>& wanted, Tensors& tensors);
/// Where the results differ from the case's; empty where they don't.
std::string different_results(const Results& results, const Json& test, const Tensors& tensors);
/// Backward from the sum of all results times the case's cotangents.
void run_backward(const Results& results, const Json& test, const Tensors& tensors);
/// Where a gradient differs; empty where it doesn't. An undefined one differs.
std::string different_gradient(const std::string& of, const Tensor& gradient, const Json& expected, const Json& test,
                               const Tensors& tensors);

/// Whether two tensors agree: shape, dtype, and |ours - theirs| <= atol + rtol * |theirs|. Empty where they do, else what differs.
std::string difference(const Tensor& ours, const Tensor& theirs, double rtol, double atol);

}  // namespace golden
