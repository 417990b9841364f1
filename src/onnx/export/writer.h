// From kernel calls to a graph: what a row of the table sees of the call that it writes, and where its results go.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/table.h"
#include "onnx/export/graph.h"
#include "onnx/export/memory.h"
#include "onnx/export/recording.h"

namespace tandem::onnx::exporting {

/// The traces, call by call.
class Writer {
 public:
  /// `recordings` are of the same module, one for each trace; `may_change`: what is written to the module's memory is let be.
  Writer(Graph& graph, std::vector<Recording*> recordings, const NamedTensors& tensors, std::vector<Range> module, bool may_change);

  /// Makes nodes of all calls.
  void write();
  /// The value of an output.
  const Value* output(size_t i);

  // --- What rows use
  Graph& graph;

  /// Argument `i` of the call in each trace, by the row of entries.def: `argument<&Table::softmax, 0>(k)`.
  template <auto Entry, size_t i>
  [[nodiscard]] decltype(auto) argument(size_t trace) const {
    return static_cast<const compiling::CallOf<Entry>&>(*calls_[trace]).template argument<i>();
  }
  /// The same of an argument that has to be the same in each trace.
  template <auto Entry, size_t i>
  [[nodiscard]] auto fixed() const {
    const auto value = argument<Entry, i>(0);
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>> || std::is_enum_v<std::decay_t<decltype(value)>>)
      for (size_t k = 1; k < kTraces; ++k)
        if (!(argument<Entry, i>(k) == value)) refuse_setting();
    return value;
  }
  /// Elements that the argument names; nothing where it has no data.
  template <auto Entry, size_t i>
  [[nodiscard]] std::optional<Elements> elements() {
    std::array<const kernels::View*, kTraces> views;
    for (size_t k = 0; k < kTraces; ++k) views[k] = &argument<Entry, i>(k);
    return elements(views);
  }
  /// The same of a list.
  template <auto Entry, size_t i>
  [[nodiscard]] std::vector<std::optional<Elements>> list() {
    std::vector<std::optional<Elements>> all;
    for (int64_t n = 0; n < argument<Entry, i>(0).size; ++n) {
      std::array<const kernels::View*, kTraces> views;
      for (size_t k = 0; k < kTraces; ++k) {
        if (argument<Entry, i>(k).size != argument<Entry, i>(0).size) refuse_setting();
        views[k] = &argument<Entry, i>(k)[n];
      }
      all.push_back(elements(views));
    }
    return all;
  }
  /// Elements at an address of each trace.
  [[nodiscard]] Elements at(const std::array<const void*, kTraces>& addresses, DType dtype, Sizes sizes, Sizes strides);

  /// The value of elements. Error where it cannot be told.
  const Value* read(const Elements& elements, bool keep_ones = false);
  /// The value stands at these elements from now on. It is converted and reshaped where it is to be.
  void give(const Elements& elements, const Value* value);
  [[nodiscard]] const Elements* source(const Elements& elements) {
    prepare(elements);
    return memory_.source(elements);
  }
  /// Throws that the call's settings depend on sizes of the inputs.
  [[noreturn]] void refuse_setting() const;

 private:
  [[nodiscard]] std::optional<Elements> elements(const std::array<const kernels::View*, kTraces>& views);
  int region_of(const std::array<const void*, kTraces>& addresses, Size& first);
  /// Puts the module's tensors into memory that is theirs, before its first use.
  void prepare(const Elements& elements);
  /// The bytes of memory whose numbers are known: what the host wrote, and tensors that were there before. Empty for others.
  [[nodiscard]] std::string_view bytes_of(const Elements& elements);
  /// Elements of such memory.
  const Value* constant(const Elements& elements, std::string_view bytes, bool keep_ones);

  struct Region {
    enum class Kind : uint8_t { Traced, Module, Captured };
    Kind kind = Kind::Traced;
    int number = 0;                     // of the module's range, or of what was captured
    std::array<int, kTraces> blocks{};  // of the traces
    std::array<const char*, kTraces> begin{};
    bool ready = false;  // the module's tensors stand there, or it was compared whether the host wrote the same
  };

  std::vector<Recording*> recordings_;
  const NamedTensors& tensors_;
  std::vector<Range> module_;
  bool may_change_;
  Memory memory_;
  std::vector<Region> regions_;
  std::array<std::vector<int>, kTraces> region_of_block_;
  std::array<compiling::Call*, kTraces> calls_{};
};

/// Makes the nodes of one kernel's calls.
struct Row {
  const char* kernel;
  const std::type_info* type;
  void (*write)(Writer& writer);
};
/// The row of a kernel.
template <auto Entry>
[[nodiscard]] Row row(const char* kernel, void (*write)(Writer& writer)) {
  return {kernel, &typeid(compiling::CallOf<Entry>), write};
}

// --- The rows, a file each
[[nodiscard]] std::span<const Row> pointwise_rows();
[[nodiscard]] std::span<const Row> product_rows();
[[nodiscard]] std::span<const Row> window_rows();
[[nodiscard]] std::span<const Row> reduction_rows();
[[nodiscard]] std::span<const Row> moving_rows();
[[nodiscard]] std::span<const Row> indexing_rows();
[[nodiscard]] std::span<const Row> layer_rows();
[[nodiscard]] std::span<const Row> recurrent_rows();
/// All of them.
[[nodiscard]] std::vector<Row> all_rows();
/// The pointwise operations that have a row of their own, by their names in pointwise.def.
[[nodiscard]] std::vector<std::string> pointwise_names();

}  // namespace tandem::onnx::exporting
