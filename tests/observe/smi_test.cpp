// What smi knows of this process, and that others who answer cannot harm who asks.
#include "observe/smi/smi.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>

#include "observe/smi/smi_ask.h"
#include "observe/smi/smi_table.h"
#include "runtime/answer.h"
#include "runtime/driver.h"
#include "tandem.h"

namespace td = tandem;
namespace smi = td::smi;
using td::runtime::from_text;
using td::runtime::to_text;

namespace {

constexpr size_t MiB = size_t{1} << 20;

TEST(Smi, KnowsThisProcess) {
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "of virtual GPUs";
  const auto x = td::empty({3 << 20}, {.dtype = td::kUInt8, .device = td::gpu(1)});
  const auto gpus = smi::query();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[1].index, 1);
  EXPECT_EQ(gpus[1].name, "tandem virtual GPU");
  EXPECT_TRUE(gpus[1].is_virtual);
  EXPECT_EQ(gpus[1].program, getpid());
  EXPECT_NE(gpus[0].uuid, gpus[1].uuid);
  EXPECT_EQ(gpus[1].uuid.size(), 36U);
  EXPECT_EQ(gpus[1].memory_total, 256 * MiB);
  EXPECT_EQ(gpus[1].memory_used, td::cuda::device_memory_used(1));
  EXPECT_TRUE(gpus[1].utilization && !gpus[1].temperature && !gpus[1].power_draw);
  ASSERT_EQ(gpus[1].processes.size(), 1U);
  EXPECT_EQ(gpus[1].processes[0].pid, getpid());
  EXPECT_EQ(gpus[1].processes[0].name, "test_observe");
  EXPECT_GE(gpus[1].processes[0].tensor_bytes, td::cuda::memory_allocated(td::gpu(1)));
  const std::string table = smi::table(gpus);
  for (const std::string part : {"tandem virtual GPU", "256MiB", "test_observe", "3MiB"})
    EXPECT_NE(table.find(part), std::string::npos) << table;
}

/// A GPU that only computes within a step, as a replica's does, holds nothing at the moments at which somebody looks.
TEST(Smi, TellsTheMostThatTensorsHeldSinceTheLastLook) {
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "of virtual GPUs: the devices of one real GPU are one to the driver";
  const auto most = [] { return smi::query()[1].processes.at(0).tensor_bytes; };
  const auto kept = td::empty({512}, {.dtype = td::kUInt8, .device = td::gpu(1)});
  while (most() >= 40 * MiB) usleep(10'000);  // of the tests before
  for (int look = 0; look < 3; ++look) {
    (void)td::empty({40 << 20}, {.dtype = td::kUInt8, .device = td::gpu(1)});
    EXPECT_GE(most(), 40 * MiB);
  }
  while (most() >= 40 * MiB) usleep(10'000);
  EXPECT_EQ(most(), td::cuda::memory_allocated(td::gpu(1)));
}

/// Columns that take no room: a character may have several bytes, and a colour takes none.
size_t columns_of(std::string_view line) {
  size_t columns = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') i = line.find('m', i);
    else columns += (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U;
  }
  return columns;
}

TEST(Smi, TableIsAsWideAsTheTerminal) {
  std::vector<smi::Gpu> gpus(2);
  for (smi::Gpu& gpu : gpus) {
    gpu.name = "tandem virtual GPU";
    gpu.is_virtual = true;
    gpu.program = 1234567;
    gpu.memory_total = 256 * MiB;
    gpu.memory_used = 250 * MiB;
    gpu.utilization = 92;
    gpu.processes = {{1234567, "a program of a long name that is cut", 22 * MiB, 3 * MiB}};
  }
  for (const bool color : {false, true}) {
    for (size_t width = 36; width <= 130; ++width) {
      const std::string text = smi::detail::table(gpus, {.width = width, .bars = true, .unicode = color, .color = color});
      size_t begin = 0;
      for (size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
        const size_t columns = columns_of(std::string_view(text).substr(begin, end - begin));
        ASSERT_EQ(columns, std::min<size_t>(width, 117)) << width << "\n" << text;
      }
      EXPECT_NE(text.find("92%"), std::string::npos);
      EXPECT_NE(text.find(width < 47 ? "250MiB" : "250MiB /    256MiB"), std::string::npos);
      EXPECT_EQ(text.find("Temp") == std::string::npos, width < 97) << "no GPU has such a gauge: " << width;
      EXPECT_EQ(text.find(color ? "━━━━━━━━━\x1b[0m·" : "=========.") != std::string::npos, width >= 70) << width << text;
    }
  }
  gpus[0].temperature = 41;
  EXPECT_NE(smi::detail::table(gpus, {.width = 80}).find("41C"), std::string::npos);
}

TEST(Smi, SeesThatAGpuIsBusy) {
  const auto x = td::ones({300, 300}, td::gpu(0));
  int seen = 0;
  while (seen < 50) {  // an average over about a second
    for (int i = 0; i < 20; ++i) (void)td::matmul(x, x);
    td::cuda::synchronize(td::gpu(0));
    seen = td::cuda::utilization(0);
  }
  while (td::cuda::utilization(0) >= 50) usleep(1000);
  SUCCEED();
}

TEST(Smi, TableOfNone) { EXPECT_NE(smi::table({}).find("No GPUs"), std::string::npos); }

TEST(Smi, TextGoesThereAndBack) {
  td::runtime::ProgramUse use{.pid = 0, .name = "train", .group = "pid-7", .gpus = {}};
  for (int i = 0; i < 64; ++i)
    use.gpus.push_back({i, i % 2 == 0, "a b", "0-1", SIZE_MAX, 2, 3, i % 2 ? std::optional<int>(i) : std::nullopt});
  const auto back = from_text(to_text(use));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_text(*back), to_text(use));
  EXPECT_EQ(back->gpus[63].utilization, 63);
  EXPECT_EQ(back->gpus[0].memory_total, SIZE_MAX);
  use.gpus.clear();
  EXPECT_TRUE(from_text(to_text(use)));
}

TEST(Smi, TextsOfOthersAreNotTrusted) {
  const std::string good = "tandem smi 1\nname\npid-1\n0\t1\tu\t5\t4\t3\t-1\tGPU\nend\n";
  ASSERT_TRUE(from_text(good));
  for (size_t i = 0; i < good.size(); ++i) EXPECT_FALSE(from_text(good.substr(0, i))) << i;
  for (size_t i = 0; i < good.size(); ++i)
    for (const char c : {'\n', '\t', '\0', '-', '9', '\x1b'}) {
      std::string bad = good;
      bad[i] = c;
      if (const auto use = from_text(bad)) {
        for (const auto& gpu : use->gpus) EXPECT_TRUE(gpu.index >= 0 && gpu.index < 64 && gpu.name.find('\x1b') == std::string::npos);
      }
    }
  std::string many = "tandem smi 1\nname\npid-1\n";
  for (int i = 0; i < 65; ++i) many += "0\t1\tu\t5\t4\t3\t-1\tGPU\n";
  EXPECT_FALSE(from_text(many + "end\n"));
  EXPECT_EQ(from_text("tandem smi 1\n\x1b[2J\npid-1\nend\n")->name, "?[2J");
}

/// A process of this user that listens at a name of smi's and does what it is told with who connects.
class Liar {
 public:
  explicit Liar(void (*act)(int)) {
    int ready[2];
    if (pipe(ready) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
      const std::string name = td::runtime::answer_prefix() + "liar-" + std::to_string(getpid());
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::memcpy(address.sun_path + 1, name.data(), name.size());
      const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
      if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener, 0) != 0) _exit(1);
      if (write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) act(accept(listener, nullptr, nullptr));
    }
    char byte;
    close(ready[1]);
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
  }
  ~Liar() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

bool answers(const Liar& liar) {
  for (const auto& program : smi::detail::ask_programs(std::chrono::milliseconds(300)))
    if (program.pid == liar.pid()) return true;
  return false;
}
void say(int socket, std::string_view text) { (void)!write(socket, text.data(), text.size()); }

TEST(Smi, WhoSaysNothingIsNotWaitedFor) {
  const Liar silent([](int) { pause(); });
  const Liar endless([](int socket) {
    signal(SIGPIPE, SIG_IGN);
    while (write(socket, "tandem smi 1\n", 13) > 0) {
    }
    close(socket);
  });
  const Liar half([](int socket) {
    say(socket, "tandem smi 1\nname\npid-1\n");
    pause();
  });
  const Liar honest([](int socket) {
    say(socket, "tandem smi 1\nhonest\npid-1\n0\t1\tu\t5\t4\t3\t-1\tGPU\nend\n");
    close(socket);
  });
  EXPECT_FALSE(answers(silent));
  EXPECT_FALSE(answers(silent)) << "with a full backlog";
  EXPECT_FALSE(answers(endless));
  EXPECT_FALSE(answers(half));
  EXPECT_TRUE(answers(honest));
}

TEST(Smi, AForkedChildHasNoPartInIt) {
  const auto x = td::ones({1}, td::gpu(0));
  const auto listening = [] {
    int count = 0;
    for (int file = 0; file < 1024; ++file) {
      sockaddr_un address{};
      socklen_t size = sizeof address;
      if (getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sun_family != AF_UNIX) continue;
      count += std::string_view(address.sun_path + 1, sizeof address.sun_path - 1).starts_with(td::runtime::answer_prefix());
    }
    return count;
  };
  EXPECT_EQ(listening(), 1);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool refused = false;
    try {
      (void)smi::query();
    } catch (const td::Error&) {
      refused = true;
    }
    _exit(refused && listening() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
