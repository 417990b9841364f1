// Work in a process of its own: this program, started anew, so that a crash, a hang and an exit are findings like any other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

/// How far a child has come: a file that both processes have mapped.
struct Progress {
  volatile int64_t program = -1, programs = 0, operations = 0;
};

struct ChildResult {
  bool good = false;  // exited with 0
  std::string what;   // else what happened: what it printed, its signal, or that it made no progress
  std::string output;
};

class Children {
 public:
  explicit Children(std::string folder);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Runs this program with these arguments until it ends, or has made no progress for `seconds`.
  ChildResult run(std::vector<std::string> arguments, double seconds);
  [[nodiscard]] const Progress& progress() const { return *progress_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  Progress* progress_;
};

/// In the child: the mapped file.
Progress& map_progress(const std::string& path);

}  // namespace fuzz
