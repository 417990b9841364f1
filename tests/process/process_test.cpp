// Process and spawn: how functions are run, how they end, and what is told of it.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "support.h"

namespace tandem::testing {
namespace {

struct Point {
  int x;
  double y;
};
enum class Colour : uint8_t { Red, Green };
struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void nothing() {}
void takes_all(int number, double real, bool flag, const std::string& text, std::vector<std::string> texts,
               std::pair<int, std::string> pair, std::tuple<int, float, std::string> tuple, Shape shape, DType dtype, Device device,
               Point point, Colour colour, mp::Queue<std::string> answer) {
  std::string told = str(number, ' ', real, ' ', flag ? "yes" : "no", ' ', text, ' ', texts.size(), texts.back(), ' ', pair.first,
                         pair.second, ' ', std::get<0>(tuple), std::get<2>(tuple), ' ', shape, ' ', name(dtype), ' ', device, ' ', point.x,
                         ' ', point.y, ' ', static_cast<int>(colour));
  answer.put(told);
}
int gives_something(int) { return 7; }
void throws(const std::string& text) { throw std::runtime_error(text); }
void throws_own() { throw OwnError("of our own"); }
void throws_number() { throw 42; }
void throws_index() { (void)zeros({2}).select(0, 5); }
void exits(int code) { std::exit(code); }
void exits_at_once(int code) { _exit(code); }
void raises(int signal) { raise(signal); }
void aborts() { std::abort(); }
void waits(mp::Event begun, mp::Event go) {
  begun.set();
  go.wait();
}
void waits_catching(mp::Event begun) {
  std::signal(SIGTERM, [](int) { _exit(9); });
  begun.set();
  mp::Event().wait();
}
void tells(mp::Queue<std::string> queue) {
  queue.put(str(getenv("OMPI_COMM_WORLD_RANK") ? "rank" : "none", ' ', getenv("TANDEM_WORKER_SOCKET") ? "socket" : "none"));  // NOLINT
}
void tells_files(mp::Queue<int> queue) { queue.put(open_descriptors()); }
void tells_mask(mp::Queue<int> queue) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  queue.put(sigismember(&blocked, SIGTERM));
}
void counts(int rank, mp::Array<int> ranks) { ranks[rank] += rank + 1; }
void spawns(int rank, mp::Array<int> ranks, int depth) {
  ranks[rank] += 1;
  if (depth > 0) mp::spawn(spawns, 2, ranks, depth - 1);
}
void spawns_failing(int) {
  mp::spawn(
      +[](int rank) {
        if (rank == 1) throw OwnError("deep down");
      },
      2);
}
void fails_or_waits(int rank, mp::Event begun) {
  if (rank == 0) {
    begun.wait();
    throw std::invalid_argument("rank 0 is out");
  }
  if (rank == 1) begun.set();
  mp::Event().wait();
}
void is_second(int rank, int signal) {
  if (rank == 1) raise(signal);
}
void poisons() {
  const auto x = zeros({4}, gpu(0));
  (void)x.index_select(0, tensor({int64_t{9}}, gpu(0)));  // found out when the GPU comes to it
}

TEST(Process, ArgumentsArrive) {
  mp::Queue<std::string> answer;
  mp::Process process(takes_all, 3, 0.5, true, "text", std::vector<std::string>{"a", "b"}, std::pair(4, std::string("c")),
                      std::tuple(5, 1.f, std::string("d")), Shape{2, 3}, kFloat16, gpu(1), Point{6, 7.5}, Colour::Green, answer);
  process.start();
  EXPECT_EQ(answer.get(kLong), "3 0.5 yes text 2b 4c 5d [2, 3] float16 cuda:1 6 7.5 1");
  EXPECT_TRUE(process.join(kLong));
  EXPECT_EQ(process.exitcode(), 0);
  EXPECT_FALSE(process.error());
}

TEST(Process, LongArgumentsArrive) {
  mp::Queue<std::string> answer;
  const std::string text(size_t{3} << 20, 'x');
  mp::Process process(
      +[](std::string given, mp::Queue<std::string> back) { back.put(given + "y"); }, text, answer);
  process.start();
  EXPECT_EQ(answer.get(kLong), text + "y");
  EXPECT_TRUE(process.join(kLong));
}

TEST(Process, StatesFromStartToEnd) {
  mp::Event begun, go;
  mp::Process process(waits, begun, go);
  EXPECT_EQ(process.pid(), 0);
  EXPECT_FALSE(process.is_alive());
  EXPECT_FALSE(process.exitcode());
  EXPECT_EQ(process.name().rfind("Process-", 0), 0U);
  expect_error<Error>([&] { process.join(); }, "was not started");
  expect_error<Error>([&] { process.terminate(); }, "was not started");
  process.start();
  EXPECT_TRUE(begun.wait(kLong));
  EXPECT_TRUE(process.is_alive());
  EXPECT_GT(process.pid(), 0);
  EXPECT_FALSE(process.exitcode());
  EXPECT_FALSE(process.join(milliseconds(1)));
  expect_error<Error>([&] { process.start(); }, "started before");
  go.set();
  EXPECT_TRUE(process.join(kLong));
  EXPECT_TRUE(process.join());
  EXPECT_FALSE(process.is_alive());
  EXPECT_EQ(process.exitcode(), 0);
  EXPECT_FALSE(runs(process.pid()));
  EXPECT_EQ(children(), 0);
}

TEST(Process, TypeAndTextOfAnErrorComeBack) {
  const auto fails = [](mp::Process process, const char* type, const char* text) {
    process.set_name("worker of tests");
    process.start();
    ASSERT_TRUE(process.join(kLong));
    EXPECT_EQ(process.exitcode(), 1);
    const auto error = process.error();
    ASSERT_TRUE(error);
    EXPECT_NE(error->type().find(type), std::string::npos) << error->type();
    EXPECT_NE(error->text().find(text), std::string::npos) << error->text();
    const std::string what = error->what();
    for (const char* part : {"worker of tests", type, text}) EXPECT_NE(what.find(part), std::string::npos) << what;
  };
  fails(mp::Process(throws, "it went wrong"), "std::runtime_error", "it went wrong");
  fails(mp::Process(throws_own), "OwnError", "of our own");
  fails(mp::Process(throws_number), "int", "no std::exception");
  fails(mp::Process(throws_index), "tandem::IndexError", "5");
  fails(mp::Process(throws, std::string(100'000, 'z')), "std::runtime_error", "zzz");
}

TEST(Process, CodesAndSignals) {
  const auto ends = [](mp::Process process, int code, const char* text) {
    process.start();
    ASSERT_TRUE(process.join(kLong));
    EXPECT_EQ(process.exitcode(), code);
    ASSERT_EQ(process.error().has_value(), text != nullptr);
    if (!text) return;
    EXPECT_EQ(process.error()->exitcode(), code);
    EXPECT_EQ(process.error()->type(), "");
    EXPECT_NE(std::string(process.error()->what()).find(text), std::string::npos) << process.error()->what();
  };
  ends(mp::Process(nothing), 0, nullptr);
  ends(mp::Process(gives_something, 1), 0, nullptr);
  ends(mp::Process(exits, 0), 0, nullptr);
  ends(mp::Process(exits, 3), 3, "exit code 3");
  ends(mp::Process(exits_at_once, 4), 4, "exit code 4");
  ends(mp::Process(raises, SIGKILL), -SIGKILL, "SIGKILL");
  ends(mp::Process(raises, SIGINT), -SIGINT, "SIGINT");
  ends(mp::Process(aborts), -SIGABRT, "SIGABRT");
}

TEST(Process, TerminateAndKill) {
  mp::Event begun, never;
  mp::Process one(waits, begun, never);
  one.start();
  ASSERT_TRUE(begun.wait(kLong));
  one.terminate();
  EXPECT_TRUE(one.join(kLong));
  EXPECT_EQ(one.exitcode(), -SIGTERM);
  one.terminate();  // nothing: it has ended
  one.kill();

  mp::Event second;
  mp::Process other(waits_catching, second);
  other.start();
  ASSERT_TRUE(second.wait(kLong));
  other.terminate();
  EXPECT_TRUE(other.join(kLong));
  EXPECT_EQ(other.exitcode(), 9);

  mp::Event third;
  mp::Process last(waits, third, never);
  last.start();
  ASSERT_TRUE(third.wait(kLong));
  last.kill();
  EXPECT_TRUE(last.join(kLong));
  EXPECT_EQ(last.exitcode(), -SIGKILL);
}

TEST(Process, EndsWithItsHandle) {
  int pid = 0;
  {
    mp::Event begun, never;
    mp::Process process(waits, begun, never);
    process.start();
    ASSERT_TRUE(begun.wait(kLong));
    pid = process.pid();
    mp::Process moved = std::move(process);
    EXPECT_TRUE(moved.is_alive());
    EXPECT_TRUE(runs(pid));
  }
  EXPECT_FALSE(runs(pid));
  EXPECT_EQ(children(), 0);
}

TEST(Process, LauncherVariablesStayBehind) {
  mp::Queue<std::string> queue;
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);  // NOLINT(concurrency-mt-unsafe): no other thread reads
  mp::Process process(tells, queue);
  process.start();
  unsetenv("OMPI_COMM_WORLD_RANK");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(queue.get(kLong), "none none");
  EXPECT_TRUE(process.join(kLong));
}

TEST(Process, FilesAndSignalMasksStayBehind) {
  mp::Queue<int> queue;
  const auto told = [&](void (*function)(mp::Queue<int>)) {
    mp::Process process(function, queue);
    process.start();
    const int answer = queue.get(kLong);
    EXPECT_TRUE(process.join(kLong));
    return answer;
  };
  const int before = told(tells_files);
  int many[50];
  for (int& file : many) file = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  EXPECT_EQ(told(tells_files), before);
  for (const int file : many) close(file);

  sigset_t all, own;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  EXPECT_EQ(told(tells_mask), 0);
  pthread_sigmask(SIG_SETMASK, &own, nullptr);
}

TEST(Process, StartsFromAnyThread) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      mp::Process process(gives_something, 1);
      process.start();
      if (process.join(kLong) && process.exitcode() == 0) ++good;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
}

TEST(Process, OutlivesTheThreadThatStartedIt) {
  mp::Event begun, go;
  mp::Process process(waits, begun, go);
  std::thread([&] { process.start(); }).join();
  EXPECT_TRUE(begun.wait(kLong));
  go.set();
  EXPECT_TRUE(process.join(kLong));
  EXPECT_EQ(process.exitcode(), 0);
}

TEST(Process, WhereTheProgramIgnoresItsChildrensEnds) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  mp::Process good(nothing), bad(throws, "seen all the same"), exited(exits, 3);
  for (mp::Process* process : {&good, &bad, &exited}) {
    process->start();
    EXPECT_TRUE(process->join(kLong));
  }
  std::signal(SIGCHLD, before);
  EXPECT_EQ(good.exitcode(), 0);
  EXPECT_FALSE(good.error());
  EXPECT_EQ(bad.error().value().text(), "seen all the same");
  EXPECT_NE(std::string(exited.error().value().what()).find("SIGCHLD"), std::string::npos);
}

TEST(Process, QueuedErrorsAreItsOwn) {
  mp::Process process(poisons);
  process.start();
  ASSERT_TRUE(process.join(kLong));
  EXPECT_EQ(process.exitcode(), 1);
  EXPECT_NE(process.error().value().text().find("index"), std::string::npos) << process.error()->text();
}

TEST(Process, WithoutDescriptorsItIsAnError) {
  mp::Process warm(nothing);  // so that the watching thread has its own
  warm.start();
  warm.join();
  const int before = open_descriptors();
  bool refused = false, started = false;
  for (int room = 0; room < 12; ++room) {
    mp::Process process(nothing);
    std::string text;
    {
      const FewFiles few(room);
      try {
        process.start();
      } catch (const Error& e) {
        text = e.what();
      }
    }
    (text.empty() ? started : refused) = true;
    EXPECT_TRUE(text.empty() || text.find("Too many open files") != std::string::npos) << text;
    EXPECT_TRUE(!text.empty() || (process.join(kLong) && process.exitcode() == 0));
    EXPECT_TRUE(eventually([] { return children() == 0; }));
  }
  EXPECT_TRUE(refused && started);
  EXPECT_TRUE(eventually([&] { return open_descriptors() == before; })) << open_descriptors() << ", not " << before;
}

TEST(Spawn, RanksRun) {
  mp::Array<int> ranks(5);
  mp::spawn(counts, 5, ranks);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ranks[i], i + 1);
  expect_error<Error>([&] { mp::spawn(counts, 0, ranks); }, "nprocs is 0");
}

TEST(Spawn, Nests) {
  mp::Array<int> ranks(2);
  mp::spawn(spawns, 2, ranks, 1);
  EXPECT_EQ(ranks[0] + ranks[1], 2 + 4);
  expect_error<mp::ProcessError>([] { mp::spawn(spawns_failing, 1); }, "deep down");
}

TEST(Spawn, TheFirstFailureEndsTheOthers) {
  const int before = open_descriptors();
  mp::Event begun;
  try {
    mp::spawn(fails_or_waits, 3, begun);
    ADD_FAILURE();
  } catch (const mp::ProcessError& e) {
    EXPECT_EQ(e.type(), "std::invalid_argument");
    EXPECT_EQ(e.text(), "rank 0 is out");
    EXPECT_EQ(e.exitcode(), 1);
    EXPECT_NE(std::string(e.what()).find("rank 0"), std::string::npos) << e.what();
  }
  EXPECT_EQ(children(), 0);
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before + 1; })) << "the event's alone";
  expect_error<mp::ProcessError>([] { mp::spawn(is_second, 2, SIGKILL); }, "was ended by SIGKILL");
  expect_error<mp::ProcessError>([] { mp::spawn(is_second, 2, SIGINT); }, "was ended by SIGINT");
}

}  // namespace
}  // namespace tandem::testing
