// What one run has left so far: its event files' contents, its settings and results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/event_reader.h"
#include "tools/board/curve.h"

namespace tandem::tools::board {

/// Bytes of an event file that are read when they are asked for: a picture, or a histogram's message.
struct Stored {
  int64_t step = 0;
  double time = 0;
  size_t file = 0;
  uint64_t offset = 0;
  uint32_t bytes = 0;
};

struct Bucket {
  double from = 0, to = 0, count = 0;
};

class Run {
 public:
  Run(std::string name, std::filesystem::path folder) : name_(std::move(name)), folder_(std::move(folder)) {}

  /// Reads what is new in its files, about `most` bytes of it. Whether anything was.
  bool read(size_t most);
  /// Whether there is more to read at once.
  [[nodiscard]] bool behind() const { return behind_; }

  [[nodiscard]] const std::string& name() const { return name_; }  // its folder, from the board's
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] double changed() const { return changed_; }  // seconds since 1970
  [[nodiscard]] const std::map<std::string, Curve>& curves() const { return curves_; }
  [[nodiscard]] const std::map<std::string, std::vector<Stored>>& pictures() const { return pictures_; }
  [[nodiscard]] const std::map<std::string, std::vector<Stored>>& histograms() const { return histograms_; }
  [[nodiscard]] const std::map<std::string, std::string>& texts() const { return texts_; }  // the last of each tag
  /// Hyper-parameters and results: of summary.json, which `tandem train` writes, and of add_hparams.
  [[nodiscard]] const nlohmann::ordered_json& facts() const { return facts_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }  // why not all can be shown; empty where it can

  /// A picture's bytes, or a histogram's buckets. Error where the file has changed since.
  [[nodiscard]] std::string bytes_of(const Stored& stored) const;
  [[nodiscard]] std::vector<Bucket> buckets_of(const Stored& stored) const;

 private:
  bool look_for_files();
  bool read_summary();
  void take_event(std::string_view event, size_t file, uint64_t offset);
  void take_value(std::string_view value, int64_t step, double time, size_t file, uint64_t offset);
  void take_hparams(std::string_view content);
  /// Whether one more tag is wanted.
  template <class Map>
  bool room_for(const Map& map, const std::string& tag);
  void start_again();

  std::string name_;
  std::filesystem::path folder_;
  std::vector<io::EventReader> files_;
  std::vector<std::optional<uintmax_t>> given_up_;  // of each file: its size when it was found damaged
  std::set<std::string> known_;
  std::map<std::string, Curve> curves_;
  std::map<std::string, std::vector<Stored>> pictures_, histograms_;
  std::map<std::string, std::string> texts_;
  nlohmann::ordered_json facts_ = nlohmann::ordered_json::object();
  std::filesystem::file_time_type summary_time_{};
  double changed_ = 0;
  bool behind_ = false;
  std::string trouble_;
};

/// Whether a folder holds what makes it a run: event files, there or in its folder "tensorboard", or a summary.json.
[[nodiscard]] bool is_run(const std::filesystem::path& folder);
/// The folder in a run's that `tandem train --tensorboard` writes event files into.
inline constexpr const char* kEventsFolder = "tensorboard";

}  // namespace tandem::tools::board
