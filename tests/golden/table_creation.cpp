#include "golden.h"

namespace golden {
namespace {

/// A factory's dtype where one is given; the device is the input's.
Options dtype_only(const Call& c) { return {.dtype = c.dtype()}; }

}  // namespace

void add_creation(Table& table) {
  table.add("full(size: ints, fill_value, *, dtype=None)",
            [](Call& c) { return full(c.ints("size"), c.number("fill_value"), c.options()); });
  table.add("ones(*size, dtype=None)", [](Call& c) { return ones(c.ints("size"), c.options()); });
  table.add("zeros(*size, dtype=None)", [](Call& c) { return zeros(c.ints("size"), c.options()); });
  table.add("full_like(input, fill_value, *, dtype=None)",
            [](Call& c) { return full_like(c.input(), c.number("fill_value"), dtype_only(c)); });
  table.add("ones_like(input, *, dtype=None)", [](Call& c) { return ones_like(c.input(), dtype_only(c)); });
  table.add("zeros_like(input, *, dtype=None)", [](Call& c) { return zeros_like(c.input(), dtype_only(c)); });
  table.add("new_full(input, size: ints, fill_value, *, dtype=None)",
            [](Call& c) { return c.input().new_full(c.ints("size"), c.number("fill_value"), dtype_only(c)); });
  table.add("new_ones(input, size: ints, *, dtype=None)", [](Call& c) { return c.input().new_ones(c.ints("size"), dtype_only(c)); });
  table.add("new_zeros(input, size: ints, *, dtype=None)", [](Call& c) { return c.input().new_zeros(c.ints("size"), dtype_only(c)); });
  table.add("fill(input, value)",
            [](Call& c) { return c.with("value", [&](const Operand& value) { return Results(fill(c.input(), value)); }); });
  table.add("zero_(input)", [](Call& c) { return c.input().clone().zero_(); });
  table.add("clone(input)", [](Call& c) { return c.input().clone(); });
  table.add("contiguous(input)", [](Call& c) { return c.input().contiguous(); });
  table.add("masked_fill(input, mask, value)", [](Call& c) {
    return c.with("value", [&](const Operand& value) { return Results(masked_fill(c.input(), c.tensor("mask"), value)); });
  });
  table.add("arange(start: number, end: number, step: number=1, *, dtype=None)",
            [](Call& c) { return arange(c.number("start"), c.number("end"), c.number("step"), c.options()); });
  table.add("arange(end: number, *, dtype=None)", [](Call& c) { return arange(c.number("end"), c.options()); });
  table.add("eye(n: int, m: int=None, *, dtype=None)", [](Call& c) { return eye(c.integer("n"), c.integer_or_none("m"), c.options()); });
  table.add("linspace(start, end, steps: int, *, dtype=None)", [](Call& c) {
    return c.with("start", [&](const Operand& start) {
      return c.with("end", [&](const Operand& end) { return Results(linspace(start, end, c.integer("steps"), c.options())); });
    });
  });
  table.add("logspace(start, end, steps: int, base: number=10.0, *, dtype=None)", [](Call& c) {
    return c.with("start", [&](const Operand& start) {
      return c.with("end",
                    [&](const Operand& end) { return Results(logspace(start, end, c.integer("steps"), c.real("base"), c.options())); });
    });
  });
  table.add("tril_indices(row: int, col: int, offset: int=0, *, dtype=None)",
            [](Call& c) { return tril_indices(c.integer("row"), c.integer("col"), c.integer("offset"), c.options()); });
  table.add("triu_indices(row: int, col: int, offset: int=0, *, dtype=None)",
            [](Call& c) { return triu_indices(c.integer("row"), c.integer("col"), c.integer("offset"), c.options()); });
}

}  // namespace golden
