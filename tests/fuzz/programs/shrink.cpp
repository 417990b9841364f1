#include "shrink.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <utility>

namespace fuzz {
namespace {

using Clock = std::chrono::steady_clock;

class Shrinker {
 public:
  Shrinker(Children& children, Failure& failure, double seconds)
      : children_(children),
        failure_(failure),
        until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  void run() {
    choose_setting();
    for (size_t before = 0; before != failure_.program.size() && time_left();) {
      before = failure_.program.size();
      take_away();
      simplify();
    }
  }

 private:
  [[nodiscard]] bool time_left() const { return Clock::now() < until_; }

  bool fails(const Program& program, int gpus) {
    if (program.empty()) return false;
    // As often as the whole program needed, and a few times more: a race does not show each time.
    const std::string what = replay(children_, program, gpus, repeat_);
    if (what.empty()) return false;
    failure_.program = program;
    failure_.gpus = gpus;
    failure_.what = what;
    return true;
  }

  void choose_setting() {
    for (const int repeat : {1, 20, 200}) {
      repeat_ = repeat;
      for (const int gpus : {0, 1, 2, 3})
        if (gpus <= failure_.gpus && fails(Program(failure_.program), gpus)) {
          repeat_ = std::min(4 * repeat_, 300);
          return;
        }
    }
  }

  /// Delta debugging: without ever smaller pieces.
  void take_away() {
    for (size_t piece = std::max<size_t>(1, failure_.program.size() / 2); time_left(); piece /= 2) {
      for (size_t at = 0; at < failure_.program.size() && time_left();) {
        Program rest = failure_.program;
        const auto from = rest.begin() + static_cast<std::ptrdiff_t>(at);
        rest.erase(from, from + static_cast<std::ptrdiff_t>(std::min(piece, rest.size() - at)));
        if (!fails(rest, failure_.gpus)) at += piece;
      }
      if (piece == 1) return;
    }
  }

  void simplify() {
    int Operation::*const fields[] = {&Operation::thread,  &Operation::capture,   &Operation::stream, &Operation::event,
                                      &Operation::no_grad, &Operation::temporary, &Operation::device};
    for (const auto field : fields) {  // everywhere at once, then one by one
      Program plain = failure_.program;
      bool any = false;
      for (Operation& o : plain) any |= std::exchange(o.*field, 0) != 0;
      if (!any || !time_left() || fails(plain, failure_.gpus)) continue;
      for (size_t i = 0; i < failure_.program.size() && time_left(); ++i) {
        plain = failure_.program;
        if (std::exchange(plain[i].*field, 0) != 0) fails(plain, failure_.gpus);
      }
    }
  }

  Children& children_;
  Failure& failure_;
  Clock::time_point until_;
  int repeat_ = 1;
};

}  // namespace

std::string replay(Children& children, const Program& program, int gpus, int repeat) {
  const std::string path = children.folder() + "/program";
  {
    std::ofstream out(path);
    write(out, program);
  }
  const ChildResult result = children.run({"--replay", path, "--gpus", std::to_string(gpus), "--repeat", std::to_string(repeat)}, 10);
  return result.good ? std::string() : result.what;
}

Failure shrink(Children& children, Failure failure, double seconds) {
  Shrinker(children, failure, seconds).run();
  return failure;
}

}  // namespace fuzz
