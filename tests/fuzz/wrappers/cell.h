// A cell of the table of wrappers and options: what trains, how, on what, and a number that the module and the data are made of.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

/// What makes several devices or ranks train as one.
enum class Kind : uint8_t { DataParallel, Ddp, Zero1, Zero2, Fsdp };
constexpr int kKinds = 5;

/// What a training has besides forward, backward and step.
enum class Option : uint8_t {
  Accumulation,
  NoSync,
  Clipping,
  Scaler,
  Frozen,
  Shared,
  Unused,
  PartlyUsed,
  Twice,
  Between,
  Uneven,
  Join,
  BatchNorm,
  SyncBatchNorm,
  Schedule,
  Average,
  Penalty,
  Checkpoint,
  Resume,
};
constexpr int kOptions = 19;

struct Cell {
  Kind kind = Kind::Ddp;
  uint32_t options = 0;  // a bit each
  int ranks = 2;
  int read_by = 2;  // ranks that go on with a checkpoint
  bool processes = false, gpus = false, adam = false, float32 = false;
  uint64_t seed = 1;

  [[nodiscard]] bool has(Option option) const { return (options >> static_cast<int>(option)) & 1; }
  void add(Option option) { options |= 1U << static_cast<int>(option); }
  /// Steps, and the one before which a checkpoint is read.
  static constexpr int kSteps = 5, kHalf = 3;
  [[nodiscard]] bool has_two_parts() const { return has(Option::Checkpoint) || has(Option::Resume); }
  [[nodiscard]] int micro_batches() const { return has(Option::Accumulation) || has(Option::NoSync) ? 3 : 1; }
  [[nodiscard]] int ranks_at(int step) const { return has_two_parts() && step >= kHalf ? read_by : ranks; }
  [[nodiscard]] int culprit() const { return static_cast<int>(seed % static_cast<uint64_t>(ranks)); }  // has an infinite gradient
};

[[nodiscard]] const char* name_of(Kind kind);
[[nodiscard]] const char* name_of(Option option);
/// As `--cell` takes it.
[[nodiscard]] std::string to_string(const Cell& cell);
/// Throws std::invalid_argument.
[[nodiscard]] Cell cell_of(const std::string& text);

/// A cell of the table: one option, all else from the seed.
[[nodiscard]] Cell table_cell(Kind kind, Option option, uint64_t seed, bool processes);
/// Some options that go together; now and then one that is an error.
[[nodiscard]] Cell random_cell(uint64_t seed, bool processes);

/// What there is in the table for a kind and an option.
struct Entry {
  enum class What : uint8_t { Holds, MayEnd, IsError, IsNone } what = What::Holds;
  const char* text = "";   // a remark
  const char* error = "";  // words of the error, where there is one
};
[[nodiscard]] Entry entry_of(Kind kind, Option option);
/// Words of the errors of which a cell must end with one, or may end with one; none where it holds.
struct Errors {
  std::vector<std::string> must, may;
};
[[nodiscard]] Errors errors_of(const Cell& cell);
/// The table in Markdown, as docs/parallel.md has it.
[[nodiscard]] std::string table();

/// Random numbers that are the same everywhere.
class Draws {
 public:
  explicit Draws(uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  int below(int limit) { return static_cast<int>(engine_() % static_cast<uint64_t>(limit)); }
  bool one_in(int count) { return below(count) == 0; }
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53 * 2 - 1; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace fuzz
