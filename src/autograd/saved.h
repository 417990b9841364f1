// Tensors that backward needs: kept with the version they had, so that changing them in place meanwhile is found out.
#pragma once

#include "autograd/node.h"
#include "autograd/saved_hooks.h"
#include "tensor/tensor.h"

namespace tandem::autograd {

namespace detail {
/// Counts moves of saved tensors on this thread: so a node sees whether the function it takes over holds any.
inline thread_local constinit uint32_t saved_moves = 0;
/// What this thread's operations keep tensors by; counted. See set_saved_hooks.
inline thread_local constinit SavedHooks* saved_hooks = nullptr;

/// What hooks keep in a tensor's place, and the history that the tensor had.
struct PackedTensor : Counted<PackedTensor> {
  Ref<SavedHooks> hooks;
  std::any value;
  Edge edge;

  void destroy() const { delete this; }
};
}  // namespace detail

/// A tensor kept for backward. `output` must be set where it is a result of the node that keeps it, its `output_nr`th: then only its values
/// are held, not its history, or the node would own itself.
class SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(const SavedTensor&) = default;
  SavedTensor(SavedTensor&& other) noexcept
      : tensor_(std::move(other.tensor_)),
        packed_(std::move(other.packed_)),
        version_(other.version_),
        output_nr_(other.output_nr_),
        output_(other.output_) {
    detail::saved_moves += defined();
  }
  SavedTensor& operator=(const SavedTensor&) = default;
  SavedTensor& operator=(SavedTensor&&) = default;
  ~SavedTensor() = default;
  explicit SavedTensor(const Tensor& tensor, bool output = false, uint32_t output_nr = 0);

  /// The tensor as it was; of a node's output with `node` as its history. Error where it was changed since.
  [[nodiscard]] Tensor get(const Node* node = nullptr) const;
  [[nodiscard]] bool defined() const { return tensor_.defined() || packed_; }
  void reset() {
    tensor_ = Tensor();
    packed_ = {};
  }

 private:
  void pack();
  [[nodiscard]] Tensor unpack(const Node* node) const;
  /// The values as a result of `node`.
  [[nodiscard]] Tensor with_node(const Tensor& values, const Node* node) const;

  Tensor tensor_;
  Ref<detail::PackedTensor> packed_;  // in its place, where it was kept in the scope of hooks
  uint32_t version_ = 0;
  uint32_t output_nr_ : 31 = 0;
  uint32_t output_ : 1 = 0;
};

/// For captures of backward functions: an input, and the result.
inline SavedTensor saved(const Tensor& input) { return SavedTensor(input); }
inline SavedTensor saved_output(const Tensor& result) { return SavedTensor(result, true); }

}  // namespace tandem::autograd
