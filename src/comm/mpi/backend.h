// Ranks that reach each other by MPI: one end of a group.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "comm/backend.h"
#include "comm/mpi/engine.h"

namespace tandem::comm::mpi {

class MpiBackend final : public Backend, public Listener {
 public:
  /// All ranks of the program. Waits for them, at most until the limit.
  explicit MpiBackend(const Start& start);
  ~MpiBackend() override;

  [[nodiscard]] const char* name() const override { return "mpi"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] bool takes(Device device) const override;
  [[nodiscard]] bool compares_calls() const override { return compares_; }

  void run(const Context& context) override;
  [[nodiscard]] std::unique_ptr<Transfer> begin_message(const Context& context) override;

  [[nodiscard]] std::unique_ptr<Backend> sub_group(const Context& context, std::span<const int> ranks) override;
  void abort(const std::string& reason) noexcept override;
  void leave() noexcept override;
  [[nodiscard]] void* recorder_memory() override { return recorder_.data(); }
  [[nodiscard]] std::string describe(int rank) const override;

  [[nodiscard]] bool notice(const Notice& notice, Notice& answer) override;
  void ending() noexcept override { leave(); }

 private:
  class Wait;
  class Message;
  class Algorithms;
  MpiBackend(Engine& engine, uint64_t id, std::vector<int> ranks, int rank);

  /// The beginning of every collective: where calls are compared, an error on every rank unless all make the same one.
  void begin(const Context& context);
  /// Error where this rank's part cannot be played, or earlier work of it failed.
  void check_usable(const Context& context);
  /// Runs an operation that moves about `bytes`.
  void operate(const Context& context, int64_t bytes, const Post& post);
  void run_message(const Context& context);
  int post_message(const Call& call, std::vector<MPI_Request>& requests) const;
  [[nodiscard]] std::string dead();
  void die(const std::string& reason, bool tell_others) noexcept;
  [[nodiscard]] Notice make_notice(Notice::Kind kind, const std::string& text);

  Engine& engine_;
  uint64_t id_;
  std::vector<int> ranks_;  // of the whole program
  int rank_;
  MPI_Comm comm_ = MPI_COMM_NULL, pairs_ = MPI_COMM_NULL;  // collectives; send and recv
  const bool compares_;                                    // TANDEM_DISTRIBUTED_DEBUG=detail
  uint64_t sub_groups_ = 0;
  std::vector<char> recorder_;
  std::vector<char> received_, reduced_;  // of the collective that is under way

  std::mutex mutex_;  // around what notices change; taken behind the engine's, never before it
  std::string dead_;  // why nothing can be done any more
  bool has_left_ = false;
  uint64_t last_number_ = 0;
  struct Left {
    uint64_t number;  // of its last collective
    Clock::time_point when;
  };
  std::map<int, Left> left_;            // members that have left
  std::map<int, std::string> answers_;  // what members said when asked where they are
};

}  // namespace tandem::comm::mpi
