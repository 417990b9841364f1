// Files in the IDX format, in which the MNIST family of datasets comes (yann.lecun.com/exdb/mnist).
#pragma once

#include <string>

#include "data/dataset.h"

namespace tandem::data {

/// The array in an IDX file, plain or gzip, in the dtype it has there (uint8, int8, int16, int32, float32, float64). Error where the file
/// is damaged: it names the file and the byte.
[[nodiscard]] Tensor read_idx(const std::string& path);

struct MnistOptions {
  bool train = true;  // the 60,000 to learn from, or the 10,000 to be judged by
};

/// A dataset of the MNIST family (MNIST, Fashion-MNIST, KMNIST) from the four files it comes in, plain or with `.gz`: images (1, 28, 28)
/// from 0 to 1, labels. As torchvision.datasets.MNIST with ToTensor.
class Mnist : public TensorDataset {
 public:
  /// Error where `folder` lacks a file (it names the ones looked for), or images and labels are not equally many.
  explicit Mnist(const std::string& folder, MnistOptions options = {}, Site site = Site::here());
};

}  // namespace tandem::data
