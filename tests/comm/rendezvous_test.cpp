// Where the processes of one machine meet: who connects without saying which rank he is, and a rank that was sent away to make room.
#include "comm/local/rendezvous.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <future>
#include <thread>

#include "base/error.h"

namespace tandem::comm {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kMagic = 0x74616e64656d0001U;
struct Hello {
  uint64_t magic = kMagic;
  int32_t rank = 0, size = 0;
};
struct Answer {
  uint64_t magic = kMagic;
  char why[496] = {};
  int pids[2] = {};
};

std::string name_for_this_test() {
  return tandem::str("rendezvous-test-", getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
}

/// The socket's address, which other processes read in /proc/net/unix.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  const std::string whole = "tandem-" + std::to_string(geteuid()) + "-" + name;
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, whole.data(), whole.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + whole.size());
}

Descriptor connected(const std::string& name) {
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  for (;;) {
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return socket;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

bool is_closed(const Descriptor& socket, milliseconds wait) {
  pollfd asked{socket.get(), POLLIN, 0};
  return poll(&asked, 1, static_cast<int>(wait.count())) == 1 && (asked.revents & POLLHUP);
}

TEST(Rendezvous, KeepsFewWhoDoNotSayWhoTheyAre) {
  const std::string name = name_for_this_test();
  auto host = std::async(std::launch::async, [&] { return meet(name, 0, 2, std::chrono::seconds(60)); });
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 60; ++i) strangers.push_back(connected(name));
  EXPECT_TRUE(is_closed(strangers.front(), std::chrono::seconds(30)));  // the oldest has made room
  EXPECT_FALSE(is_closed(strangers.back(), milliseconds(0)));
  const Connections met = meet(name, 1, 2, std::chrono::seconds(60));
  EXPECT_EQ(met.pids.size(), 2U);
  EXPECT_EQ(host.get().pids, met.pids);
}

TEST(Rendezvous, SendsAwayWhoIsSilent) {
  const std::string name = name_for_this_test();
  auto host = std::async(std::launch::async, [&] { return meet(name, 0, 2, std::chrono::seconds(60)); });
  const Descriptor stranger = connected(name);
  EXPECT_TRUE(is_closed(stranger, std::chrono::seconds(30)));
  (void)meet(name, 1, 2, std::chrono::seconds(60));
  (void)host.get();
}

TEST(Rendezvous, ARankThatWasSentAwayComesAgain) {
  const std::string name = name_for_this_test();
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  const Descriptor listening(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(listening.get(), 4), 0);
  auto rank = std::async(std::launch::async, [&] { return meet(name, 1, 2, std::chrono::seconds(60)); });
  { const Descriptor first(accept(listening.get(), nullptr, nullptr)); }
  const Descriptor second(accept(listening.get(), nullptr, nullptr));
  Hello hello;
  ASSERT_EQ(recv(second.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
  EXPECT_EQ(hello.rank, 1);
  Answer answer;
  answer.pids[0] = answer.pids[1] = getpid();
  ASSERT_EQ(send(second.get(), &answer, sizeof answer, 0), static_cast<ssize_t>(sizeof answer));
  EXPECT_EQ(rank.get().pids, (std::vector<int>{getpid(), getpid()}));
}

TEST(Rendezvous, ARankIsToldThatTheFirstOneHasEnded) {
  const std::string name = name_for_this_test();
  std::future<Connections> rank;
  {
    sockaddr_un address;
    const socklen_t length = address_of(name, address);
    const Descriptor listening(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    ASSERT_EQ(listen(listening.get(), 4), 0);
    rank = std::async(std::launch::async, [&] { return meet(name, 1, 2, std::chrono::seconds(60)); });
    const Descriptor first(accept(listening.get(), nullptr, nullptr));
  }
  try {
    (void)rank.get();
    FAIL() << "it met nobody";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 ended before all ranks had come"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tandem::comm
