// New tensors: the forms that only libtorch has.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "libtorch/types.h"
#include "ops/creation.h"
#include "ops/random.h"

namespace torch {

using tandem::Site;

/// A tensor of the values of an array.
template <class T>
[[nodiscard]] Tensor tensor(const ArrayRef<T>& values, const tandem::Options& options = {}, Site site = Site::here()) {
  return tandem::tensor(tandem::NestedList(values.vec()), options, site);
}
template <class T>
[[nodiscard]] Tensor tensor(const ArrayRef<T>& values, const tandem::OneOption auto& option, Site site = Site::here()) {
  return torch::tensor(values, tandem::only(option, site), site);
}
/// A tensor of one number, without dimensions.
[[nodiscard]] Tensor scalar_tensor(const Scalar& value, const tandem::Options& options = {}, Site site = Site::here());
/// The identity, n by n. A template, so that braces are never the options.
[[nodiscard]] Tensor eye(int64_t n, const std::derived_from<tandem::Options> auto& options, Site site = Site::here()) {
  return tandem::eye(n, {}, options, site);
}
/// Uninitialised memory with these strides.
[[nodiscard]] Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const tandem::Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor empty(IntArrayRef sizes, const tandem::Options& options, MemoryFormat, Site site = Site::here());
/// Memory of the caller's with strides.
[[nodiscard]] Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const tandem::Options& options = {},
                               Site site = Site::here());
[[nodiscard]] Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const tandem::OneOption auto& option,
                               Site site = Site::here()) {
  return torch::from_blob(data, sizes, strides, tandem::only(option, site), site);
}
/// With a function that is called with the memory when nothing uses it any more.
[[nodiscard]] Tensor from_blob(void* data, IntArrayRef sizes, std::invocable<void*> auto deleter, const tandem::OneOption auto& option,
                               Site site = Site::here()) {
  return tandem::from_blob(data, sizes, std::move(deleter), tandem::only(option, site), site);
}
[[nodiscard]] Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, std::invocable<void*> auto deleter,
                               const tandem::OneOption auto& option, Site site = Site::here()) {
  return tandem::from_blob(data, sizes, strides, std::function<void(void*)>(std::move(deleter)), tandem::only(option, site), site);
}
/// The numbers from start to end, both included.
[[nodiscard]] Tensor range(const Scalar& start, const Scalar& end, const Scalar& step = 1, const tandem::Options& options = {},
                           Site site = Site::here());

}  // namespace torch
