// Runs a program's operations, in one of two ways:
//   plainly   on the CPU, one operation after another, without temporaries, foreign memory, hooks that change hooks, retained gradients:
//   each
//             of these is put in other words that mean the same. This gives the values that are right.
//   really    as a user would write it, on GPUs (or on the CPU where there are none), with streams, threads and graphs.
// Both keep the same books of who wrote what on which stream; from them come the waits that a correct program needs, and no others.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "forms.h"
#include "program.h"

namespace fuzz {

/// What a program computed: for each operation that shows something, the bytes it saw, in order.
struct Outcome {
  std::map<std::pair<int, int>, std::vector<std::string>> seen;
  std::map<int, std::string> errors;  // what the operations that threw said
  int operations = 0;
};
/// The first difference, in words; empty where there is none.
std::string difference(const Outcome& expected, const Outcome& got);

struct Setting {
  bool plain = true;
  int gpus = 0;
  std::string folder = ".";      // for files
  std::ostream* text = nullptr;  // the program in C++, as it would run really; with `plain`
  std::string ends = {};         // which tensors it shows at its end, in words; empty: all
};

class Machine {
 public:
  explicit Machine(Setting setting, int operations);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Whether the operation means something here and is correct. Of a plain machine.
  [[nodiscard]] bool allowed(const Operation& o) const;
  void step(const Operation& o);
  /// Everything that is left to be seen, and the end.
  Outcome finish();

  /// For the generator.
  [[nodiscard]] const td::Tensor& tensor(int slot) const { return slots_[static_cast<size_t>(slot)].tensor; }
  /// Where it lives in the program: -1 for the CPU.
  [[nodiscard]] int device_of(int slot) const { return slots_[static_cast<size_t>(slot)].device; }

 private:
  struct Memory {
    int stream = -1;  // that wrote it last; -1: everyone has waited for it
    int made_on = 0;  // -1: nobody knows
    int owner = 0;    // the thread that may change it while several run
    int origin = 0;   // the thread or graph that its history belongs to
    bool viewed = false, retained = false, fixed = false, hooked = false, quiet = false, read_elsewhere = false;
    std::shared_ptr<td::cuda::Event> event;
    int event_number = -1;
  };
  struct Slot {
    td::Tensor tensor;
    int memory = 0;
    int device = -1;
    int origin = 0;
    bool view = false;
  };
  struct HookEntry {
    td::Tensor target;  // only of hooks that change hooks
    int64_t number = -1;
    bool done = false;
  };
  /// A gradient kept in other words.
  struct Retained {
    td::Tensor tensor, sum;
    int generation = 0;
  };
  /// One host thread of the program.
  struct Lane {
    int thread = 0;
    int stream = 0;
    bool capturing = false;
    std::string text = {};
  };
  enum class Segment { None, Threads, Capture };

  // machine.cpp
  [[nodiscard]] static Segment segment_of(const Operation& o) {
    return o.capture ? Segment::Capture : o.thread ? Segment::Threads : Segment::None;
  }
  [[nodiscard]] bool real() const { return !setting_.plain; }
  [[nodiscard]] bool on_gpus() const { return real() && setting_.gpus > 0; }
  [[nodiscard]] td::Device device(int number) const;
  [[nodiscard]] std::string device_text(int number) const;
  [[nodiscard]] int origin(const Operation& o) const;
  void begin(const Operation& first);
  void end();
  void run_threads();
  void run_capture();
  void show(int number, int part, const td::Tensor& x);
  void note(int number, int part, std::string bytes);
  /// Writes a line of the program in C++.
  template <class... Parts>
  void say(Lane& lane, const Parts&... parts) {
    if (!setting_.text) return;
    std::ostringstream line;
    ((line << parts), ...);
    lane.text += (&lane == &main_ ? "  " : "    ") + line.str() + "\n";
  }
  Slot& slot(int i) { return slots_[static_cast<size_t>(i)]; }
  [[nodiscard]] const Slot& slot(int i) const { return slots_[static_cast<size_t>(i)]; }
  Memory& memory(int i) { return memories_[static_cast<size_t>(i)]; }
  [[nodiscard]] const Memory& memory(int i) const { return memories_[static_cast<size_t>(i)]; }

  // waits.cpp
  [[nodiscard]] td::cuda::Stream stream(int device, int number) const;
  void use(Lane& lane, int stream);
  void wait(Lane& lane, const Memory& from, int device);
  void wait_for_all(Lane& lane, int device);
  void wait_everywhere(Lane& lane);
  void before_read(Lane& lane, int slot);
  void before_write(Lane& lane, int slot);
  void after_write(Lane& lane, const Operation& o, Memory& to, int device);
  void before_gradient_read(Lane& lane, const Slot& of);
  void before_backward(Lane& lane);
  void after_backward(Lane& lane);
  void record_use(Lane& lane, const td::Tensor& x, int device, const std::string& text);
  /// All streams of all devices wait for each other.
  void meet(Lane& lane);

  // operations.cpp
  void execute(Lane& lane, const Operation& o);
  void perform(Lane& lane, const Operation& o);
  void put(const Operation& o, int out, td::Tensor tensor, int memory, bool view, int device);
  void put_new(Lane& lane, const Operation& o, int out, td::Tensor tensor, int device, int part = 0);
  [[nodiscard]] static std::string name(int slot) { return "t[" + std::to_string(slot) + "]"; }

  // gradients.cpp
  void perform_gradients(Lane& lane, const Operation& o);
  void add_hook(const Operation& o, const td::Tensor& x);
  td::Tensor call_hook(const Operation& o, const td::Tensor& gradient);
  [[nodiscard]] std::string hook_text(const Operation& o) const;
  void retain(const td::Tensor& x);
  void renew_retained(const td::Tensor& x);
  [[nodiscard]] td::Tensor gradient_of(const td::Tensor& x) const;
  void after_pass();
  td::Tensor seed_for(Lane& lane, const Operation& o, std::string& text);
  void step_optimizer(const Operation& o, const td::Tensor& x);
  void run_parallel(Lane& lane, const Operation& o);

  // allowed.cpp
  [[nodiscard]] bool readable(const Operation& o, int slot) const;
  [[nodiscard]] bool records_rightly(const Operation& o, int slot) const;
  [[nodiscard]] bool own(const Operation& o, int slot) const;

  Setting setting_;
  std::vector<Slot> slots_;
  std::vector<Memory> memories_;  // gradients of each thread, blobs, then what each operation made
  std::vector<HookEntry> hooks_;
  std::vector<std::vector<td::cuda::Stream>> streams_;
  std::vector<std::vector<float>> blobs_;
  std::vector<td::Tensor> blob_tensors_, shared_;
  std::map<const void*, Retained> retained_;
  std::vector<std::function<void()>> deferred_;
  std::vector<std::pair<td::cuda::Graph, std::vector<Slot>>> graphs_;
  std::vector<td::Tensor> kept_;

  Lane main_;
  std::vector<Lane> lanes_;  // of the segment: its threads', or its capture's
  Segment segment_ = Segment::None;
  int segment_capture_ = 0;
  std::vector<Operation> segment_operations_;
  std::vector<Slot> before_segment_;
  int section_ = 0;
  bool again_ = false;  // what a capture holds is done once more
  std::mutex mutex_;    // of the outcome
  Outcome outcome_;
};

}  // namespace fuzz
