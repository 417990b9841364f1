// Pictures sorted into folders.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/image.h"
#include "data/transforms.h"

namespace tandem::data {

struct ImageFolderOptions {
  std::optional<Transform> transform = {};  // of each picture
  ImageMode mode = ImageMode::RGB;
};

/// The PNG and JPEG files below a folder whose own folders are the classes: samples of a picture, uint8 (channels, height, width) unless
/// the transform changes that, and its class's number, int64. Classes are numbered by name, samples sorted by class, then by path; each
/// picture is read when it is asked for. As torchvision.datasets.ImageFolder.
class ImageFolder : public Dataset {
 public:
  /// Error where `root` has no folders, or one of them no picture.
  explicit ImageFolder(const std::string& root, ImageFolderOptions options = {}, Site = Site::here());

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  [[nodiscard]] Sample get(int64_t index) const override;
  /// The folders' names: class i is the i-th.
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }
  /// Path and class of each sample.
  [[nodiscard]] const std::vector<std::pair<std::string, int64_t>>& samples() const { return samples_; }

 private:
  ImageFolderOptions options_;
  std::vector<std::string> classes_;
  std::vector<std::pair<std::string, int64_t>> samples_;
};

}  // namespace tandem::data
