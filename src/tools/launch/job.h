// One run of a program's ranks: from the first agent's word to the last one's.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/control/server.h"
#include "tools/launch/child.h"
#include "tools/launch/options.h"
#include "tools/launch/printer.h"

namespace tandem::tools {

/// How a run ended.
struct JobOutcome {
  int status = 0;            // what the launcher exits with, were this the last run
  std::string error;         // what failed first; empty where nothing did
  bool interrupted = false;  // by a signal to the launcher
};

/// Starts the ranks, waits for them, and ends all of them when one fails.
class Job {
 public:
  /// `signals` is a signalfd of what interrupts the launcher; `restart` says how often the job has been started before this time.
  Job(const LaunchOptions& options, Printer& printer, int signals, int restart);
  [[nodiscard]] JobOutcome run();

 private:
  using Clock = comm::control::Clock;

  struct Rank {
    explicit Rank(int number) : output{Lines(number), Lines(number)} {}
    comm::control::Peer* agent = nullptr;
    comm::control::Peer* channel = nullptr;  // of the rank's own process, where that is a program of tandem that has made a process group
    std::string host;
    bool came = false;   // its agent has
    bool over = false;   // nothing more will be heard of it
    bool alive = false;  // it has been started, and has not ended
    std::optional<comm::control::Ended> ended;
    Lines output[2];
    std::string last_errors;  // of what it wrote to standard error, the last lines
    std::string recorder;     // its last collectives
  };

  void came(comm::control::Peer& peer);
  void said(comm::control::Peer& peer, const comm::control::Message& message);
  void gone(comm::control::Peer& peer, const std::string& why);
  [[nodiscard]] bool starting() const { return !options_.mpi && starters_.size() < ranks_.size(); }
  void start_agents();
  void start_ranks();
  void print_lines(Rank& rank, int stream, std::string lines, uint32_t weight);
  void tell_written();
  void end_of(int rank, const comm::control::Ended& ended);
  void hear_ranks();

  void look_at_starters();
  void look_for_the_lost();
  void look_at_signals();
  void look_at_deadlines();
  void look_at_suspect();
  void send_alive();

  void blame(int rank);
  void fail_by(int rank, const std::string& error, int status);
  void end_ranks(int signal);
  [[nodiscard]] bool all_over() const;
  [[nodiscard]] std::string name_of(int rank) const;
  void keep_recorders() const;
  void finish_starters();

  const LaunchOptions& options_;
  Printer& printer_;
  int signals_;
  comm::control::Server server_;
  std::vector<Rank> ranks_;
  Variables variables_;                           // for agents
  std::vector<std::unique_ptr<Child>> starters_;  // the agents; with MPI, mpirun alone
  std::string starter_output_;                    // what mpirun said
  Descriptor starter_pipe_;
  JobOutcome outcome_;
  int first_failed_ = -1;
  struct Missing {
    int waiting, gone;
  };
  std::optional<Missing> missing_;  // what a rank has told first: that another one is gone, for which it waits
  int suspect_ = -1;                // has failed, perhaps because of the other one, whose end is still to be told
  Clock::time_point suspect_until_;
  bool started_ = false, lost_host_ = false;
  Clock::time_point began_, alive_at_;
  std::optional<Clock::time_point> failing_since_;
  std::chrono::milliseconds grace_;
  bool deaf_ended_ = false;  // ranks that do not listen have been told to end
  int hardest_ = 0;          // the hardest of the signals that have been sent to all
};

}  // namespace tandem::tools
