// How far a long work of a command is, drawn over one line of standard error where that is a terminal.
#pragma once

#include <cstdint>

#include "train/terminal.h"

namespace tandem::tools {

/// Draws nothing in the first second: short work needs no bar.
class WorkBar {
 public:
  explicit WorkBar(bool is_quiet);
  WorkBar(const WorkBar&) = delete;
  WorkBar& operator=(const WorkBar&) = delete;
  /// Wipes the line.
  ~WorkBar();
  void show(uint64_t done_bytes, uint64_t all_bytes);

 private:
  train::Terminal terminal_;
  double began_, drawn_ = 0;
};

}  // namespace tandem::tools
