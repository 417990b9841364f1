#include "golden.h"

namespace golden {
namespace {

template <class F>
void unary(Table& table, const std::string& name, F f) {
  table.add((name + "(input)").c_str(), [f](Call& c) { return Results(f(Input(c.input()))); });
}

}  // namespace

void add_pointwise(Table& table) {
  unary(table, "abs", [](const Input& x) { return abs(x); });
}

}  // namespace golden
