// Sequences of tensors, and values that may be missing.
#include <algorithm>

#include "onnx/call.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/view.h"
#include "runtime/tracer.h"

namespace tandem::onnx {
namespace {

using List = std::vector<Tensor>;

const List& list_of(Call& call, size_t i) {
  const Value& value = call.value(i);
  if (!value.sequence) fail("its input ", i, " is no sequence");
  return *value.sequence;
}
void give_list(Call& call, List list) { call.give(Value{{}, {}, std::make_shared<const List>(std::move(list))}); }

/// A place in a sequence of `size`, counted from the front.
size_t place_in(int64_t at, size_t size, bool may_be_end) {
  const int64_t found = at < 0 ? at + static_cast<int64_t>(size) : at;
  if (found < 0 || found > static_cast<int64_t>(size) - (may_be_end ? 0 : 1))
    fail<IndexError>("there is no place ", at, " in a sequence of ", size);
  return static_cast<size_t>(found);
}

Tensor whole_number(int64_t value) {
  const runtime::TracerGuard guard(nullptr);
  return tensor(value, {.dtype = kInt64});
}

void empty_list(Call& call) { give_list(call, {}); }
void construct(Call& call) {
  List list;
  for (size_t i = 0; i < call.inputs(); ++i) list.push_back(call.in(i));
  give_list(call, std::move(list));
}
void insert(Call& call) {
  List list = list_of(call, 0);
  const size_t at = call.has(2) ? place_in(call.number(2).to<int64_t>(), list.size(), true) : list.size();
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), call.in(1));
  give_list(call, std::move(list));
}
void at(Call& call) {
  const List& list = list_of(call, 0);
  call.give(list[place_in(call.number(1).to<int64_t>(), list.size(), false)]);
}
void erase(Call& call) {
  List list = list_of(call, 0);
  const size_t place = place_in(call.has(1) ? call.number(1).to<int64_t>() : -1, list.size(), false);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
  give_list(call, std::move(list));
}
void length(Call& call) { call.give_host(whole_number(static_cast<int64_t>(list_of(call, 0).size()))); }

void concat_list(Call& call) {
  const List& list = list_of(call, 0);
  if (list.empty()) fail("its sequence is empty");
  const int64_t axis = call.integer("axis", 0);
  call.give(call.integer("new_axis", 0) != 0 ? stack(list, axis, call.site()) : cat(list, axis, call.site()));
}

void split_to_list(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const int64_t axis = axis_of(call.integer("axis", 0), x.dim());
  if (!call.has(1)) {
    List parts;
    const bool keep = call.integer("keepdims", 1) != 0;
    for (int64_t i = 0; i < x.size(axis); ++i) parts.push_back(keep ? x.narrow(axis, i, 1, site) : x.select(axis, i, site));
    return give_list(call, std::move(parts));
  }
  const Value& split_by = call.value(1);
  const Shape sizes = call.ints(1);
  const int64_t dims = split_by.host.defined() ? split_by.host.dim() : split_by.tensor.dim();
  if (dims == 0) return give_list(call, split(x, std::max<int64_t>(sizes[0], 1), axis, site));
  give_list(call, split(x, sizes, axis, site));
}

void sequence_map(Call& call) {
  const auto count = list_of(call, 0).size();
  std::vector<List> results(call.outputs());
  for (size_t step = 0; step < count; ++step) {
    std::vector<Value> given;
    for (size_t i = 0; i < call.inputs(); ++i) {
      const Value& value = call.value(i);
      if (!value.sequence) given.push_back(value);
      else given.push_back({value.sequence->at(std::min(step, value.sequence->size() - 1)), {}, {}});
    }
    const std::vector<Value> outputs = call.run_graph("body", given);
    for (size_t i = 0; i < results.size() && i < outputs.size(); ++i)
      results[i].push_back(outputs[i].tensor.defined() ? outputs[i].tensor : brought(outputs[i].host, call.device(), call.site()));
  }
  for (List& list : results) give_list(call, std::move(list));
}

void optional_of(Call& call) {
  if (call.has(0)) call.give(call.value(0));
  else call.skip();
}
void has_element(Call& call) {
  const runtime::TracerGuard guard(nullptr);
  call.give_host(tensor(call.has(0), {.dtype = kBool}));
}

constexpr OperatorRow kRows[] = {
    {"ConcatFromSequence", 11, concat_list},
    {"Optional", 15, optional_of},
    {"OptionalGetElement", 15, optional_of},
    {"OptionalHasElement", 15, has_element},
    {"SequenceAt", 11, at},
    {"SequenceConstruct", 11, construct},
    {"SequenceEmpty", 11, empty_list},
    {"SequenceErase", 11, erase},
    {"SequenceInsert", 11, insert},
    {"SequenceLength", 11, length},
    {"SequenceMap", 17, sequence_map},
    {"SplitToSequence", 11, split_to_list},
};

}  // namespace

std::span<const OperatorRow> sequence_operators() { return kRows; }

}  // namespace tandem::onnx
