// The control channel between `tandem launch` and its ranks: messages, who is let in, and what hostile bytes do.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <future>

#include "base/error.h"
#include "comm/control/link.h"
#include "comm/control/message.h"
#include "comm/control/rank_channel.h"
#include "comm/control/server.h"

namespace tandem::comm::control {
namespace {

Hello some_hello() {
  Hello hello;
  hello.token = "secret";
  hello.rank = 2;
  hello.world_size = 4;
  hello.local_world_size = 2;
  hello.pid = 4711;
  hello.port = 5000;
  hello.host = "node1";
  return hello;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ControlMessages, AHelloComesBackAsItWas) {
  const Hello hello = decode_hello(encode(some_hello()));
  EXPECT_EQ(hello.token, "secret");
  EXPECT_EQ(hello.role, Role::Agent);
  EXPECT_EQ(hello.rank, 2);
  EXPECT_EQ(hello.world_size, 4);
  EXPECT_EQ(hello.local_rank, 0);
  EXPECT_EQ(hello.local_world_size, 2);
  EXPECT_EQ(hello.pid, 4711);
  EXPECT_EQ(hello.port, 5000);
  EXPECT_EQ(hello.host, "node1");
}

TEST(ControlMessages, AHelloThatCannotBeIsRefused) {
  const auto refused = [](void (*change)(Hello&)) {
    Hello hello = some_hello();
    change(hello);
    return error_of([&] { (void)decode_hello(encode(hello)); });
  };
  EXPECT_NE(refused([](Hello& hello) { hello.rank = 4; }).find("rank 4 of 4"), std::string::npos);
  EXPECT_NE(refused([](Hello& hello) { hello.rank = -1; }).find("a rank is 4294967295"), std::string::npos);
  EXPECT_NE(refused([](Hello& hello) { hello.port = 70000; }).find("a port is 70000"), std::string::npos);
  EXPECT_NE(refused([](Hello& hello) { hello.role = static_cast<Role>(7); }).find("a role is 7"), std::string::npos);
  EXPECT_NE(refused([](Hello& hello) { hello.host = "a\x1b[31m"; }).find("host's name"), std::string::npos);
}

TEST(ControlMessages, EveryShortenedHelloIsRefused) {
  const Message whole = encode(some_hello());
  for (size_t size = 0; size < whole.fields.size(); ++size)
    EXPECT_THROW((void)decode_hello({Kind::Hello, whole.fields.substr(0, size)}), Error) << size;
  EXPECT_THROW((void)decode_hello({Kind::Hello, whole.fields + "x"}), Error);
  EXPECT_THROW((void)decode_hello({Kind::Alive, whole.fields}), Error);
}

TEST(ControlMessages, ATextThatAnnouncesMoreThanThereIsIsRefused) {
  const Message message = Writer(Kind::Lost).number(0xffffffffU).done();
  EXPECT_NE(error_of([&] { (void)Reader(message).text(); }).find("announces a text of 4294967295"), std::string::npos);
}

TEST(ControlMessages, TokensAreRandom) {
  EXPECT_EQ(make_token().size(), 32U);
  EXPECT_NE(make_token(), make_token());
  EXPECT_TRUE(same_token("abc", "abc"));
  EXPECT_FALSE(same_token("abc", "abd"));
  EXPECT_FALSE(same_token("abc", "ab"));
  EXPECT_FALSE(same_token("", "a"));
}

TEST(ControlAddress, IsReadOrRefused) {
  const Address address = parse_address("10.0.0.1:4000", "X");
  EXPECT_EQ(address.str(), "10.0.0.1:4000");
  for (const char* wrong : {"", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:70000", "host:1", "10.0.0.1:1x", ":1"})
    EXPECT_NE(error_of([&] { (void)parse_address(wrong, "TANDEM_X"); }).find("TANDEM_X must be an address"), std::string::npos) << wrong;
}

TEST(ControlAddress, OneThatIsNotThisMachinesIsRefused) {
  EXPECT_NE(error_of([] { (void)listen_on("192.0.2.1"); }).find("cannot listen on 192.0.2.1"), std::string::npos);
}

/// A server, and what it was told. `until` drives it.
struct Listening {
  std::vector<int> came;
  std::vector<std::string> said, gone;
  std::vector<uint32_t> numbers;
  Peer* peer = nullptr;
  static constexpr int kExpected = 4;
  Server server{"127.0.0.1",
                "secret",
                kExpected,
                {[this](Peer& p) {
                   came.push_back(p.hello.rank);
                   peer = &p;
                 },
                 [this](Peer&, const Message& message) {
                   if (message.kind == Kind::Missing) numbers.push_back(Reader(message).number());
                   else said.push_back(Reader(message).text());
                 },
                 [this](Peer& p, const std::string& why) {
                   gone.push_back(why);
                   if (peer == &p) peer = nullptr;
                 }}};

  [[nodiscard]] Link connect() const { return Link(connect_to(server.address(), 5)); }
  template <class Done>
  void until(Done&& done) {
    while (!done()) {
      std::vector<pollfd> none;
      server.wait(std::chrono::milliseconds(50), none);
    }
  }
  /// Drives the server until it has closed the other side's connection.
  void until_closed(Link& link) {
    until([&] { return !link.receive(); });
  }
};

TEST(ControlServer, LetsInWhoKnowsTheToken) {
  Listening listening;
  Link link = listening.connect();
  link.send(encode(some_hello()));
  link.send(Writer(Kind::Output).text("hello").done());
  listening.until([&] { return !listening.said.empty(); });
  EXPECT_EQ(listening.came, std::vector<int>{2});
  EXPECT_EQ(listening.said, std::vector<std::string>{"hello"});
  link.close();
  listening.until([&] { return !listening.gone.empty(); });
  EXPECT_EQ(listening.gone, std::vector<std::string>{""});
}

TEST(ControlServer, ClosesTheConnectionOfWhoDoesNot) {
  Listening listening;
  Hello wrong = some_hello();
  wrong.token = "guess";
  Link link = listening.connect();
  link.send(encode(wrong));
  listening.until_closed(link);
  Link silent = listening.connect();
  silent.send(Writer(Kind::Output).text("let me in").done());
  listening.until_closed(silent);
  EXPECT_TRUE(listening.came.empty());
  EXPECT_TRUE(listening.said.empty());
  EXPECT_TRUE(listening.gone.empty());
}

TEST(ControlServer, ClosesOnBytesThatAreNoMessages) {
  Listening listening;
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(4, '\0'), std::string("\xff\xff\xff\xff\x01", 5),
                                   std::string("\x05\0\0\0\x01\xff\xff\xff\xff", 9)}) {
    Link link = listening.connect();
    ASSERT_EQ(::send(link.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    listening.until_closed(link);
  }
  EXPECT_TRUE(listening.came.empty());
  // Whoever is known is cut off as well.
  Link known = listening.connect();
  known.send(encode(some_hello()));
  listening.until([&] { return !listening.came.empty(); });
  ASSERT_EQ(::send(known.fd(), "\xff\xff\xff\xff", 4, MSG_NOSIGNAL), 4);
  listening.until_closed(known);
  ASSERT_EQ(listening.gone.size(), 1U);
  EXPECT_NE(listening.gone[0].find("4294967295 bytes is announced"), std::string::npos);
}

TEST(ControlServer, TheOldestStrangerMakesRoom) {
  Listening listening;
  std::vector<Link> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(listening.connect());
  listening.until_closed(strangers.front());
  EXPECT_TRUE(strangers.back().receive());  // still open
  Link known = listening.connect();
  known.send(encode(some_hello()));
  listening.until([&] { return !listening.came.empty(); });
  for (int i = 0; i < 100; ++i) strangers.push_back(listening.connect());
  listening.until_closed(strangers[100]);
  EXPECT_TRUE(known.receive());  // who is known makes no room
}

TEST(ControlServer, WhoHasSaidHelloIsNotSentAway) {
  Listening listening;
  std::vector<Link> all;
  // None of them has been looked at when more come than there is room for.
  for (int i = 0; i < 90; ++i) {
    all.push_back(listening.connect());
    all.back().send(encode(some_hello()));
  }
  listening.until([&] { return listening.came.size() == all.size(); });
  EXPECT_TRUE(listening.gone.empty());
}

TEST(ControlServer, AStrangerGetsNoMoreThanAHello) {
  Listening listening;
  Link link = listening.connect();
  const std::string announced("\x00\x10\x00\x00", 4);  // 4096 bytes, of which none come
  ASSERT_EQ(::send(link.fd(), announced.data(), announced.size(), MSG_NOSIGNAL), 4);
  listening.until_closed(link);
}

struct Told {
  std::promise<std::string> lost;
  RankChannel::Calls calls{[] { return std::string("1 all_reduce\n2 broadcast"); },
                           [this](const std::string& why) { lost.set_value(why); }};
};

TEST(ControlRank, HearsWhoWasLostAndSendsItsRecorder) {
  Listening listening;
  Told told;
  Hello hello = some_hello();
  hello.role = Role::Rank;
  RankChannel channel(listening.server.address(), hello, told.calls);
  listening.until([&] { return listening.peer != nullptr; });
  listening.peer->link.send(Writer(Kind::Lost).text("rank 3 on host node4 is lost").done());
  listening.until([&] { return !listening.said.empty(); });
  EXPECT_EQ(listening.said[0], "1 all_reduce\n2 broadcast");
  EXPECT_EQ(told.lost.get_future().get(), "rank 3 on host node4 is lost");
}

TEST(ControlRank, HearsThatTheLauncherHasEnded) {
  Told told;
  Hello hello = some_hello();
  hello.role = Role::Rank;
  std::unique_ptr<RankChannel> channel;
  {
    Listening listening;
    channel = std::make_unique<RankChannel>(listening.server.address(), hello, told.calls);
    listening.until([&] { return listening.peer != nullptr; });
  }
  EXPECT_EQ(told.lost.get_future().get(), "the launcher that started this rank has ended");
}

TEST(ControlRank, TriesAgainWhereItWasSentAway) {
  const Descriptor listening = listen_on("127.0.0.1");
  const auto accepted = [&] {
    for (;;) {
      pollfd waiting{listening.get(), POLLIN, 0};
      (void)poll(&waiting, 1, -1);
      if (Accepted next = accept_from(listening.get()); next.socket) return Link(std::move(next.socket));
    }
  };
  Told told;
  Hello hello = some_hello();
  hello.role = Role::Rank;
  const RankChannel channel(own_address(listening.get()), hello, told.calls);
  accepted().close();
  Link again = accepted();
  std::optional<Message> message;
  while (!(message = again.next())) (void)again.receive();
  EXPECT_EQ(decode_hello(*message).rank, 2);
  again.send(Writer(Kind::Lost).text("rank 3 is lost").done());
  EXPECT_EQ(told.lost.get_future().get(), "rank 3 is lost");
}

TEST(ControlRank, IsToldWhyItIsRefused) {
  Listening listening;
  Told told;
  Hello hello = some_hello();
  hello.role = Role::Rank;
  hello.token = "guess";
  const RankChannel channel(listening.server.address(), hello, told.calls);
  auto why = told.lost.get_future();
  listening.until([&] { return why.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  EXPECT_EQ(why.get(), "the launcher that started this rank refused it: [control] wrong token");
}

TEST(ControlRank, SaysWhichOtherOneIsGone) {
  Listening listening;
  Told told;
  Hello hello = some_hello();
  hello.role = Role::Rank;
  RankChannel channel(listening.server.address(), hello, told.calls);
  listening.until([&] { return listening.peer != nullptr; });
  channel.tell_missing(3);
  channel.tell_missing(1);  // which followed from the first
  listening.until([&] { return !listening.numbers.empty(); });
  EXPECT_EQ(listening.numbers, std::vector<uint32_t>{3});
}

TEST(ControlRank, EndsWithoutAWord) {
  Listening listening;
  Told told;
  Hello hello = some_hello();
  hello.role = Role::Rank;
  auto channel = std::make_unique<RankChannel>(listening.server.address(), hello, told.calls);
  listening.until([&] { return listening.peer != nullptr; });
  channel.reset();
  listening.until([&] { return !listening.gone.empty(); });
  EXPECT_EQ(listening.gone[0], "");
}

TEST(ControlRank, WithoutALauncherThereIsNoChannel) {
  EXPECT_EQ(RankChannel::from_environment(0, 1, {}), nullptr);
  Hello hello = some_hello();
  const Address nobody = [] {
    const Descriptor socket = listen_on("127.0.0.1");
    return own_address(socket.get());
  }();
  EXPECT_NE(error_of([&] { const RankChannel channel(nobody, hello, {}); }).find("cannot connect to 127.0.0.1"), std::string::npos);
}

}  // namespace
}  // namespace tandem::comm::control
