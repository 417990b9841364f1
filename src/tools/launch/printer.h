// What ranks write, line by line with their number in front.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace tandem::tools {

/// Makes whole lines out of the bytes of one stream of one rank.
class Lines {
 public:
  explicit Lines(int rank);
  /// The lines that `bytes` completes, each with "[rank 2] " in front. What a progress bar has overwritten in its line is left out.
  [[nodiscard]] std::string add(std::string_view bytes);
  /// The last line, where it has no end of its own.
  [[nodiscard]] std::string finish();

 private:
  void take_line(std::string& out);

  std::string prefix_, line_;
};

/// Writes to standard output and standard error from a thread of its own, so that a reader who is slow, or a terminal that is stopped,
/// holds nobody else up.
class Printer {
 public:
  Printer();
  /// Writes what is left.
  ~Printer();
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  /// To descriptor `to`, 1 or 2; `weight` bytes of `rank`'s output are then done with, which `written` will tell.
  void print(int to, std::string text, int rank = 0, uint32_t weight = 0);
  /// Readable when `written` has something to tell.
  [[nodiscard]] int fd() const { return done_.get(); }
  /// What has been written since the last call: ranks, and the weights of what was printed for them.
  [[nodiscard]] std::vector<std::pair<int, uint32_t>> written();

 private:
  struct Piece {
    int to;
    std::string text;
    int rank;
    uint32_t weight;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Piece> pieces_;
  std::vector<std::pair<int, uint32_t>> written_;
  bool stop_ = false;
  Descriptor done_;  // an eventfd
  std::thread thread_;
};

}  // namespace tandem::tools
