// SummaryWriter: figures, pictures and texts of a run for TensorBoard.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/site.h"

namespace tandem {
class Tensor;
}
namespace tandem::io {
class EventFile;
class Message;
}  // namespace tandem::io

namespace tandem::train {

/// A hyperparameter's value.
using HParam = std::variant<bool, double, std::string>;

/// Writes an event file into `log_dir`, which `tensorboard --logdir` shows as one run. Every call writes its record whole, so that nothing
/// is lost where the program dies. As torch.utils.tensorboard.SummaryWriter; the files are written without TensorFlow or protobuf.
class SummaryWriter {
 public:
  /// Makes the folder where it does not exist. Error with the system's reason.
  explicit SummaryWriter(std::string log_dir, Site = Site::here());
  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;
  ~SummaryWriter();

  /// A point of the curve `tag`; stored in float32, as TensorBoard's curves are. A "/" in a tag groups curves.
  void add_scalar(const std::string& tag, double value, int64_t step);
  /// Points of several curves in one chart: each goes into a run of its own, in the folder log_dir/tag_name.
  void add_scalars(const std::string& tag, const std::map<std::string, double>& values, int64_t step);
  /// How the numbers of a tensor are distributed, in buckets that grow by a tenth each. Waits for its device. Error for a tensor without
  /// elements, or with elements that are not finite.
  void add_histogram(const std::string& tag, const Tensor& values, int64_t step, Site site = Site::here());
  /// A picture, of what io::encode_png takes: (channels, height, width) or (height, width), uint8 or floating from 0 to 1. Waits for its
  /// device.
  void add_image(const std::string& tag, const Tensor& image, int64_t step, Site site = Site::here());
  /// A text; TensorBoard reads it as Markdown.
  void add_text(const std::string& tag, const std::string& text, int64_t step);
  /// What the run was made with and what came out, for the table of hyperparameters. Once a run.
  void add_hparams(const std::map<std::string, HParam>& hparams, const std::map<std::string, double>& metrics);

  /// Brings what was written to the disk.
  void flush();
  /// The folder that the event file is in.
  [[nodiscard]] const std::string& log_dir() const { return log_dir_; }
  /// The event file.
  [[nodiscard]] const std::string& path() const;

 private:
  void add_summary(const io::Message& value, int64_t step);

  std::string log_dir_;
  std::unique_ptr<io::EventFile> file_;
  std::map<std::string, std::unique_ptr<SummaryWriter>> others_;  // of add_scalars, by folder
};

}  // namespace tandem::train
