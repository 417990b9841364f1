// Datasets that the tests of loaders share.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tandem.h"

/// Samples of three tensors: the index, a number from sample_generator, and one from tandem::rand. Some take longer than others.
class Random : public tandem::data::Dataset {
 public:
  explicit Random(int64_t count) : count_(count) {}
  [[nodiscard]] int64_t size() const override { return count_; }
  [[nodiscard]] tandem::data::Sample get(int64_t index) const override {
    if (index % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    return {{tandem::tensor(index), tandem::tensor(tandem::data::sample_generator().uniform()), tandem::rand({3})}};
  }

 private:
  int64_t count_;
};

/// Sample `bad` is an IndexError.
class Faulty : public tandem::data::Dataset {
 public:
  Faulty(int64_t count, int64_t bad) : count_(count), bad_(bad) {}
  [[nodiscard]] int64_t size() const override { return count_; }
  [[nodiscard]] tandem::data::Sample get(int64_t index) const override {
    if (index == bad_) throw tandem::IndexError("the picture is torn");
    return {{tandem::tensor(index)}};
  }

 private:
  int64_t count_, bad_;
};

/// All numbers of a loader's next epoch, tensor after tensor of each batch.
inline std::vector<double> numbers_of(tandem::data::DataLoader& loader) {
  std::vector<double> numbers;
  for (const tandem::data::Batch& batch : loader)
    for (const tandem::Tensor& tensor : batch.tensors) {
      const tandem::Tensor host = tensor.to(tandem::kFloat64).cpu().contiguous();
      numbers.insert(numbers.end(), host.data_ptr<double>(), host.data_ptr<double>() + host.numel());
    }
  return numbers;
}
