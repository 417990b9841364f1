// A rank's side of the control channel: where `tandem launch` started it, it learns here that another rank or host was lost.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "comm/control/link.h"
#include "comm/control/message.h"

namespace tandem::comm::control {

/// A connection to the launcher, listened to by a thread of its own.
class RankChannel {
 public:
  struct Calls {
    /// The rank's last collectives, a line each, the latest last. Called by the channel's thread.
    std::function<std::string()> recorder;
    /// The job cannot go on: `why` names who was lost. Called by the channel's thread, once; it should wake whoever waits.
    std::function<void(const std::string& why)> lost;
  };

  /// Connects to the launcher that TANDEM_LAUNCH_CONTROL and TANDEM_LAUNCH_TOKEN tell of; nullptr where they are not set. Error where they
  /// are set and it cannot be reached.
  [[nodiscard]] static std::unique_ptr<RankChannel> from_environment(int rank, int world_size, Calls calls);

  RankChannel(const Address& launcher, const Hello& hello, Calls calls);
  ~RankChannel();
  RankChannel(const RankChannel&) = delete;
  RankChannel& operator=(const RankChannel&) = delete;

  /// Tells the launcher that another rank is gone, for which this one waits. From any thread; once what it returns from may end this
  /// process, the launcher has it.
  void tell_missing(int rank);

 private:
  void listen();
  bool take_messages(std::string& why);
  void knock();

  const Address launcher_;
  const Hello hello_;
  Calls calls_;
  std::mutex mutex_;  // of `link_` and `missing_`
  Link link_;
  int missing_ = -1;
  bool welcome_ = false;  // the launcher has said something
  Descriptor stop_;       // an eventfd
  std::thread thread_;
};

}  // namespace tandem::comm::control
