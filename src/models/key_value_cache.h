// What attention has computed of the tokens so far, so that each further token costs one row.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace tandem::models {

/// Keys and values of the tokens that a LanguageModel has seen, layer by layer. Memory is taken ahead, in steps; what is in it is copied
/// when it grows. One for each text that is written: `LanguageModel::next` fills it.
class KeyValueCache {
 public:
  /// `step`: for how many tokens memory is taken at once.
  explicit KeyValueCache(int64_t step = 256, Site = Site::here());

  /// How many tokens are in it.
  [[nodiscard]] int64_t length() const { return length_; }
  /// For how many tokens there is memory.
  [[nodiscard]] int64_t capacity() const;
  /// Forgets the tokens from number `length` on, and keeps the memory. Error where there are fewer.
  void truncate(int64_t length, Site = Site::here());

  /// Keys and values of a layer with those of further tokens, each (n, heads, length + t, head_dim), as views of the cache.
  struct Layer {
    Tensor keys, values;
  };
  /// For models: adds keys and values of further tokens to a layer.
  [[nodiscard]] Layer append(size_t layer, const Tensor& keys, const Tensor& values, Site site);
  /// For models: all layers have been given `tokens` more.
  void advance(int64_t tokens) { length_ += tokens; }

 private:
  void grow(Tensor& kept, const Tensor& like, int64_t tokens, Site site) const;

  std::vector<Layer> layers_;
  int64_t length_ = 0, step_;
};

}  // namespace tandem::models
