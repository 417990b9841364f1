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
    : calls_(std::move(calls)), link_(connect_to(launcher, kConnectSeconds)), stop_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_) fail("[control] no eventfd can be made: the process has too many open files");
  link_.send(encode(hello));
  thread_ = detail::start_thread("td control", [this] { listen(); });
}

RankChannel::~RankChannel() {
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void RankChannel::listen() {
  std::string why;
  for (;;) {
    std::array<pollfd, 2> waiting = {pollfd{stop_.get(), POLLIN, 0},
                                     pollfd{link_.fd(), static_cast<short>(POLLIN | (link_.sending() ? POLLOUT : 0)), 0}};
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) return;
    if (waiting[1].revents & POLLOUT) link_.flush();
    if (!(waiting[1].revents & ~POLLOUT)) continue;
    const bool open = link_.receive();
    try {
      while (const auto message = link_.next()) {
        if (message->kind != Kind::Lost) continue;
        link_.send(Writer(Kind::Recorder).text(calls_.recorder()).done());
        calls_.lost(Reader(*message).text());
        while (link_.sending()) {  // then there is nothing more to hear
          pollfd full{link_.fd(), POLLOUT, 0};
          if (poll(&full, 1, 1000) <= 0) break;
          link_.flush();
        }
        return;
      }
      if (!open) why = "the launcher that started this rank has ended";
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (!why.empty()) {
      calls_.lost(why);
      return;
    }
  }
}

}  // namespace tandem::comm::control
