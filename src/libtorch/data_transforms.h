// Transforms: what map() does to the examples or batches of a dataset.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "libtorch/data_example.h"
#include "libtorch/data_site.h"
#include "libtorch/types.h"

namespace torch::data::transforms {

/// From a batch to another.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;

  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

/// From examples to one batch.
template <class T, class BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;

/// From an example to another.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual Output apply(Input input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> outputs;
    outputs.reserve(input_batch.size());
    for (Input& input : input_batch) outputs.push_back(apply(std::move(input)));
    return outputs;
  }
};

/// A function of batches.
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  Output apply_batch(Input input_batch) override { return function_(std::move(input_batch)); }

 private:
  FunctionType function_;
};
/// A function from examples to one batch.
template <class T, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

/// A function of examples.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  Output apply(Input input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// From an example's tensor to another; the target stays.
template <class Target = tandem::Tensor>
class TensorTransform : public Transform<Example<tandem::Tensor, Target>, Example<tandem::Tensor, Target>> {
 public:
  virtual tandem::Tensor operator()(tandem::Tensor input) = 0;
  Example<tandem::Tensor, Target> apply(Example<tandem::Tensor, Target> input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

/// A function of an example's tensor.
template <class Target = tandem::Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<tandem::Tensor(tandem::Tensor)>;
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  tandem::Tensor operator()(tandem::Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

namespace detail {
/// One number a channel, as a tensor that images are computed with.
tandem::Tensor by_channel(ArrayRef<double> values, tandem::Site site);
/// (image - mean) / stddev.
tandem::Tensor normalized(const tandem::Tensor& image, const tandem::Tensor& mean, const tandem::Tensor& stddev);
}  // namespace detail

/// (x - mean) / stddev, by channel: one number of each for all channels, or as many as there are channels.
template <class Target = tandem::Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> mean_, ArrayRef<double> stddev_, tandem::Site site = tandem::Site::here())
      : mean(detail::by_channel(mean_, site)), stddev(detail::by_channel(stddev_, site)) {}
  tandem::Tensor operator()(tandem::Tensor input) override { return detail::normalized(input, mean, stddev); }

  tandem::Tensor mean, stddev;
};

/// The tensors of the examples, stacked along a new first dimension.
template <class T = Example<>>
struct Stack;

template <>
struct Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

template <>
struct Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace torch::data::transforms
