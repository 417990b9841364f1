#include "comm/control/rank_channel.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

#include "base/env.h"
#include "base/error.h"
#include "base/thread.h"

namespace tandem::comm::control {
namespace {

// The launcher is on the way already, or there is none.
constexpr double kConnectSeconds = 20;
// Between two tries to be let in.
constexpr int kKnockPause = 20;  // ms

}  // namespace

std::unique_ptr<RankChannel> RankChannel::from_environment(int rank, int world_size, Calls calls) {
  const auto address = environment("TANDEM_LAUNCH_CONTROL");
  const auto token = environment("TANDEM_LAUNCH_TOKEN");
  if (!address || !token) return nullptr;
  Hello hello;
  hello.token = *token;
  hello.role = Role::Rank;
  hello.rank = rank;
  hello.world_size = world_size;
  hello.pid = getpid();
  hello.host = host_name();
  return std::make_unique<RankChannel>(parse_address(*address, "TANDEM_LAUNCH_CONTROL"), hello, std::move(calls));
}

RankChannel::RankChannel(const Address& launcher, const Hello& hello, Calls calls)
    : launcher_(launcher),
      hello_(hello),
      calls_(std::move(calls)),
      link_(connect_to(launcher, kConnectSeconds)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_) fail("[control] no eventfd can be made: the process has too many open files");
  link_.send(encode(hello));
  thread_ = detail::start_thread("td control", [this] { listen(); });
}

RankChannel::~RankChannel() {
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void RankChannel::tell_missing(int rank) {
  const std::lock_guard lock(mutex_);
  if (missing_ >= 0) return;  // the first one is what the others followed from
  missing_ = rank;
  link_.send(Writer(Kind::Missing).number(static_cast<uint32_t>(rank)).done());
}

void RankChannel::listen() {
  std::string why;
  while (why.empty()) {
    std::array<pollfd, 2> waiting = {pollfd{stop_.get(), POLLIN, 0}, pollfd{link_.fd(), POLLIN, 0}};
    {
      const std::lock_guard lock(mutex_);
      if (link_.sending()) waiting[1].events |= POLLOUT;
    }
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) return;
    try {
      const std::lock_guard lock(mutex_);
      if (waiting[1].revents & POLLOUT) link_.flush();
      if ((waiting[1].revents & ~POLLOUT) && !take_messages(why) && why.empty()) {
        if (welcome_) why = "the launcher that started this rank has ended";
        else if (poll(waiting.data(), 1, kKnockPause) == 0) knock();
      }
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  calls_.lost(why);
  const std::lock_guard lock(mutex_);
  while (link_.sending()) {  // then there is nothing more to hear
    pollfd full{link_.fd(), POLLOUT, 0};
    if (poll(&full, 1, 1000) <= 0) break;
    link_.flush();
  }
}

/// What the launcher says; `why` where it says that the job cannot go on. False where it has closed the connection.
bool RankChannel::take_messages(std::string& why) {
  const bool open = link_.receive();
  while (const auto message = link_.next()) {
    Reader in(*message);
    if (message->kind == Kind::Refused) fail("the launcher that started this rank refused it: ", in.text());
    welcome_ = true;
    if (message->kind != Kind::Lost) continue;
    why = in.text();
    link_.send(Writer(Kind::Recorder).text(calls_.recorder()).done());
    return open;
  }
  return open;
}

/// Connects once more: the launcher has closed the connection before it read who this is, to make room for somebody else.
void RankChannel::knock() {
  link_ = Link(connect_to(launcher_, kConnectSeconds));
  link_.send(encode(hello_));
  if (missing_ >= 0) link_.send(Writer(Kind::Missing).number(static_cast<uint32_t>(missing_)).done());
}

}  // namespace tandem::comm::control
