// All runs below a folder, read by a thread of its own while they grow.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tools/board/run.h"

namespace tandem::tools::board {

class Store {
 public:
  /// Error where the folder is none.
  explicit Store(const std::string& folder);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Looks for what is new twice a second, on a thread, until the end.
  void watch();
  /// Reads all that is there by now.
  void read_all();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // Documents for the page (docs/board.md). Thread-safe; nothing (null) where there is no such run, tag or step.
  /// All runs with their tags and facts; {"version": v} alone where nothing is newer than `version`.
  [[nodiscard]] nlohmann::ordered_json state(uint64_t version) const;
  /// The tag's curves of these runs, each of at most `points` points of the steps `from` to `to`.
  [[nodiscard]] nlohmann::ordered_json curves(const std::string& tag, const std::vector<int>& runs, size_t points, int64_t from,
                                              int64_t to) const;
  [[nodiscard]] nlohmann::ordered_json steps_of_pictures(const std::string& tag, const std::vector<int>& runs) const;
  [[nodiscard]] nlohmann::ordered_json histograms(const std::string& tag, int run, size_t most) const;
  [[nodiscard]] nlohmann::ordered_json texts(int run) const;
  [[nodiscard]] std::string picture(const std::string& tag, int run, int64_t step) const;  // "" where there is none
  /// A file in the run's folder: empty where there is none, or it is a link.
  [[nodiscard]] std::filesystem::path file_of(int run, const std::string& name) const;

 private:
  void look_for_runs();
  bool read_some();
  const Run* run_of(int number) const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  std::map<int, std::unique_ptr<Run>> runs_;  // by a number that stays its own
  std::map<std::string, int> numbers_;        // by its folder
  int next_number_ = 0;
  uint64_t version_ = 1;
  bool behind_ = true;  // there is more to read
  bool left_out_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tandem::tools::board
