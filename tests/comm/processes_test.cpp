// Ranks that are processes of this machine, and what becomes of the others when one of them dies, leaves, differs or does not come.
#include "comm/processes.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "comm/ranks.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"

extern char** environ;

namespace td = tandem;
namespace dist = td::distributed;

namespace {

int failures = 0;

void expect(bool right, const std::string& what, int line) {
  if (right) return;
  ++failures;
  std::cerr << "rank " << dist::get_rank() << ", line " << line << ": " << what << '\n';
}
#define HOLDS(condition) expect(condition, #condition, __LINE__)

std::string error_in(const std::function<void()>& f) {
  try {
    f();
  } catch (const td::Error& error) {
    return error.what();
  }
  return "no error";
}
bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::cerr << "'" << part << "' is not in '" << text << "'\n";
  return false;
}

bool same(const td::Tensor& a, const td::Tensor& b) { return td::equal(a.cpu(), b.cpu()); }

// --- What ranks do

void every_collective(int rank, int size) {
  enum class Memory : uint8_t { Own, Symmetric, Gpu };
  for (const Memory memory : {Memory::Own, Memory::Symmetric, Memory::Gpu}) {
    const td::Device device = memory == Memory::Gpu ? td::gpu(rank) : td::cpu();
    const auto copy_of = [&](const td::Tensor& x) {
      if (memory != Memory::Symmetric) return x.to(device, {.copy = true});
      const td::Tensor t = dist::symmetric_zeros(x.sizes(), x.dtype());
      t.copy_(x);
      return t;
    };
    for (const int64_t count : {0, 1, 7, 1000, 100003, 1000000}) {
      std::vector<td::Tensor> inputs;
      td::Tensor sum = td::zeros({count});
      for (int r = 0; r < size; ++r) {
        inputs.push_back(td::arange(count).remainder(17).to(td::kFloat32) + r);
        sum = sum + inputs.back();
      }
      const td::Tensor own = copy_of(inputs[static_cast<size_t>(rank)]);
      td::Tensor t = copy_of(own);
      dist::all_reduce(t);
      HOLDS(same(t, sum));
      t = copy_of(own);
      dist::broadcast(t, size - 1);
      HOLDS(same(t, inputs.back()));
      t = copy_of(own);
      dist::reduce(t, 0);
      HOLDS(same(t, rank == 0 ? sum : inputs[static_cast<size_t>(rank)]));
      const auto all = dist::all_gather(own);
      for (int r = 0; r < size; ++r) HOLDS(same(all[static_cast<size_t>(r)], inputs[static_cast<size_t>(r)]));
      const int64_t part = count / size;
      HOLDS(same(dist::reduce_scatter(own.narrow(0, 0, part * size)), sum.narrow(0, rank * part, part)));
      std::vector<td::Tensor> parts;
      for (int r = 0; r < size; ++r) parts.push_back(own.narrow(0, 0, count * (r + 1) / size));
      const auto taken = dist::all_to_all(parts);
      for (int r = 0; r < size; ++r)
        HOLDS(same(taken[static_cast<size_t>(r)], inputs[static_cast<size_t>(r)].narrow(0, 0, count * (rank + 1) / size)));
      t = copy_of(td::zeros_like(own));
      const auto sent = dist::isend(own, (rank + 1) % size);
      dist::recv(t, (rank + size - 1) % size);
      sent.wait();
      HOLDS(same(t, inputs[static_cast<size_t>((rank + size - 1) % size)]));
      t = copy_of(td::zeros_like(own));
      dist::scatter(t, rank == 1 ? all : std::vector<td::Tensor>{}, 1);
      HOLDS(same(t, inputs[static_cast<size_t>(rank)]));
    }
  }
}

// Of memory that all ranks reach, of parts of it, and of memory that only some of them have so.
void symmetric_memory(int rank, int size) {
  const int64_t count = 100003;
  const td::Tensor sum = td::full({count}, size * (size + 1) / 2.0);
  const td::Tensor whole = dist::symmetric_zeros({count + 5}, td::kFloat32);
  HOLDS(same(whole, td::zeros({count + 5})));
  const td::Tensor part = whole.narrow(0, rank, count);  // at another place on each rank
  part.fill_(rank + 1);
  dist::all_reduce(part);
  HOLDS(same(part, sum));
  HOLDS(whole.sum().item<double>() == sum.sum().item<double>());  // nothing was written beside it
  td::Tensor t = rank == 1 ? dist::symmetric_zeros({count}, td::kFloat32) : td::zeros({count});
  t.fill_(rank + 1);
  dist::all_reduce(t);
  HOLDS(same(t, sum));
  t = dist::symmetric_zeros({count}, td::kFloat32).fill_(rank + 1);
  dist::all_reduce(t, dist::ReduceOp::AVG);
  HOLDS(same(t, sum / size));

  // Where it is used up, memory is like any other; what was given back is zeros again.
  const td::Tensor large = dist::symmetric_zeros({60 << 20}, td::kFloat32), more = dist::symmetric_zeros({4 << 20}, td::kFloat32);
  HOLDS(large.numel() == 60 << 20 && same(more, td::zeros({4 << 20})));
  for (int i = 0; i < 3; ++i) {
    const td::Tensor again = dist::symmetric_zeros({count}, td::kFloat32);
    HOLDS(same(again, td::zeros({count})));
    again.fill_(3);
  }
  HOLDS(dist::symmetric_zeros({0}, td::kInt64).numel() == 0);

  // A group of some ranks has its own.
  const auto pair = dist::new_group({size - 1, 0});
  if (pair.is_member()) {
    t = dist::symmetric_zeros({count}, td::kFloat32, pair).fill_(rank + 1);
    dist::all_reduce(t, dist::ReduceOp::SUM, {.group = pair});
    HOLDS(same(t, td::full({count}, size + 1.0)));
  }
  dist::destroy_process_group();
  HOLDS(same(part, sum));
  part.fill_(7);
}

void killed_in_symmetric_memory(int rank, int /*size*/) {
  td::Tensor t = dist::symmetric_zeros({100003}, td::kFloat32).fill_(1);
  dist::all_reduce(t);
  if (rank == 1) (void)raise(SIGKILL);
  HOLDS(has(error_in([&] { dist::all_reduce(t); }), "has died"));
  t = td::Tensor();
}

void sub_groups(int rank, int size) {
  const auto odd = dist::new_group({1}), even = dist::new_group({size - 1, 0});
  HOLDS(odd.is_member() == (rank == 1) && even.is_member() == (rank == 0 || rank == size - 1));
  const td::Tensor t = td::full({5}, 1.0 * rank);
  if (even.is_member()) {
    HOLDS(dist::get_rank(even) == (rank == 0 ? 1 : 0));
    dist::all_reduce(t, dist::ReduceOp::SUM, {.group = even});
    HOLDS(same(t, td::full({5}, 1.0 * (size - 1))));
    dist::broadcast(t, 0, {.group = even});
  } else {
    HOLDS(has(error_in([&] { dist::all_reduce(t, dist::ReduceOp::SUM, {.group = even}); }), "this rank is not in the group"));
  }
}

// What is queued is done although nobody has the group's handle, or waits, any more when the program ends.
void without_handles(int rank, int size) {
  const td::Device device = td::gpu(rank);
  const td::Tensor t = td::ones({5}, device);
  if (rank == 1)
    td::runtime::require_driver().host_function(
        td::cuda::current_stream(device).record()->handle, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); },
        nullptr);
  {
    std::vector<int> all;
    for (int i = 0; i < size; ++i) all.push_back(i);
    dist::all_reduce(t, dist::ReduceOp::SUM, {.group = dist::new_group(all)});
  }
  if (rank != 1) HOLDS(same(t, td::full({5}, 1.0 * size)));
}

void killed(int rank, int size) {
  dist::barrier();
  if (rank == 1) (void)raise(SIGKILL);
  const td::Tensor t = td::ones({3});
  const std::string error = error_in([&] { dist::all_reduce(t); });
  HOLDS(has(error, "rank 1 (pid ") && has(error, "has died") && has(error, "last seen outside of collectives since barrier at "));
  // The group is dead.
  HOLDS(has(error_in([&] { dist::barrier(); }), "the group was aborted"));
  HOLDS(has(dist::ProcessGroup().recorded_calls(), "all_reduce of float32 [3] (SUM)"));
  (void)size;
}

void killed_in_stream(int rank, int /*size*/) {
  dist::barrier();
  if (rank == 1) (void)raise(SIGKILL);
  const td::Tensor t = td::ones({3}, td::gpu(rank));
  dist::all_reduce(t);
  HOLDS(has(error_in([&] { td::cuda::synchronize(rank); }), "has died"));
}

void different(int rank, int /*size*/) {
  const td::Tensor t = td::ones({3});
  const std::string error = error_in([&] {
    if (rank == 1) dist::broadcast(t, 0);
    else dist::all_reduce(t);
  });
  HOLDS(has(error, "called all_reduce of float32 [3] (SUM) at ") && has(error, "called broadcast of float32 [3] from rank 0 at "));
}

void too_late(int rank, int /*size*/) {
  const td::Tensor t = td::ones({3});
  // Rank 1 is elsewhere: its wait ends with the group.
  const std::string error = error_in([&] {
    if (rank == 1) dist::recv(t, 0);
    else dist::monitored_barrier({}, std::chrono::milliseconds(200));
  });
  HOLDS(has(error, "the time limit was reached") && has(error, "rank 1 (pid ") &&
        has(error, "last seen in recv of float32 [3] from rank 0"));
}

void left(int rank, int /*size*/) {
  if (rank == 1) return dist::destroy_process_group();
  HOLDS(has(error_in([&] { dist::barrier(); }), "has left the group"));
}

void aborted(int rank, int /*size*/) {
  if (rank == 1) return dist::ProcessGroup().abort("rank 1 had enough");
  HOLDS(has(error_in([&] { dist::barrier(); }), "rank 1 had enough"));
}

const std::map<std::string, void (*)(int, int)> kFunctions = {
    {"every_collective", every_collective},
    {"symmetric_memory", symmetric_memory},
    {"killed_in_symmetric_memory", killed_in_symmetric_memory},
    {"sub_groups", sub_groups},
    {"without_handles", without_handles},
    {"killed", killed},
    {"killed_in_stream", killed_in_stream},
    {"different", different},
    {"too_late", too_late},
    {"left", left},
    {"aborted", aborted},
};

// --- Starting them

struct Started {
  std::vector<pid_t> pids;
  std::vector<int> status;  // as waitpid gives it
};

pid_t spawn(const char* function, int rank, int size, const std::string& name, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"/proc/self/exe", "--rank", function, std::to_string(rank), std::to_string(size), name};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
  return pid;
}

/// The status of a process; one that has not ended after a minute is killed.
int status_of(pid_t pid) {
  const auto watch = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd asked{watch, POLLIN, 0};
  if (poll(&asked, 1, 60000) != 1) {
    ADD_FAILURE() << "process " << pid << " hangs";
    kill(pid, SIGKILL);
  }
  close(watch);
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

std::string new_name() {
  static std::atomic<int> count = 0;
  return "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

std::vector<int> run(const char* function, int size) {
  const std::string name = new_name();
  std::vector<pid_t> pids;
  for (int rank = 0; rank < size; ++rank) pids.push_back(spawn(function, rank, size, name));
  std::vector<int> status;
  for (const pid_t pid : pids) status.push_back(status_of(pid));
  return status;
}

}  // namespace

int run_as_rank(int argc, char** argv) {
  if (argc < 6) return 2;
  const int rank = std::atoi(argv[3]), size = std::atoi(argv[4]);
  const std::string function = argv[2];
  try {
    if (function == "alone") {  // the others do not come
      const std::string error = error_in([&] {
        dist::init_process_group("local",
                                 {.timeout = std::chrono::milliseconds(300), .rank = rank, .world_size = size, .init_method = argv[5]});
      });
      return has(error, argv[6]) ? 0 : 1;
    }
    dist::init_process_group("local", {.timeout = std::chrono::seconds(50), .rank = rank, .world_size = size, .init_method = argv[5]});
    kFunctions.at(function)(rank, size);
    if (dist::is_initialized()) dist::destroy_process_group();
  } catch (const std::exception& error) {
    std::cerr << "rank " << rank << ": " << error.what() << '\n';
    return 1;
  }
  return failures ? 1 : 0;
}

TEST(Processes, HaveEveryCollective) {
  EXPECT_EQ(run("every_collective", 2), (std::vector<int>{0, 0}));
  EXPECT_EQ(run("every_collective", 3), (std::vector<int>{0, 0, 0}));
}

TEST(Processes, ReachEachOthersMemory) {
  EXPECT_EQ(run("symmetric_memory", 2), (std::vector<int>{0, 0}));
  EXPECT_EQ(run("symmetric_memory", 3), (std::vector<int>{0, 0, 0}));
}

TEST(Processes, AreToldOfADeathInSharedMemory) { EXPECT_EQ(run("killed_in_symmetric_memory", 3), (std::vector<int>{0, SIGKILL, 0})); }

TEST(Processes, HaveSubGroups) { EXPECT_EQ(run("sub_groups", 3), (std::vector<int>{0, 0, 0})); }

TEST(Processes, FinishWhatIsQueued) { EXPECT_EQ(run("without_handles", 3), (std::vector<int>{0, 0, 0})); }

TEST(Processes, AreToldOfADeath) { EXPECT_EQ(run("killed", 3), (std::vector<int>{0, SIGKILL, 0})); }

TEST(Processes, AreToldOfADeathInTheirStreams) { EXPECT_EQ(run("killed_in_stream", 2), (std::vector<int>{0, SIGKILL})); }

TEST(Processes, AreToldOfBothLinesThatDiffer) { EXPECT_EQ(run("different", 3), (std::vector<int>{0, 0, 0})); }

TEST(Processes, AreToldWhoIsMissing) { EXPECT_EQ(run("too_late", 3), (std::vector<int>{0, 0, 0})); }

TEST(Processes, AreToldWhoHasLeft) { EXPECT_EQ(run("left", 3), (std::vector<int>{0, 0, 0})); }

TEST(Processes, AreEndedByAbort) { EXPECT_EQ(run("aborted", 3), (std::vector<int>{0, 0, 0})); }

TEST(Processes, WaitForRanksWithinTheTimeLimit) {
  const std::string name = new_name();
  const pid_t first = spawn("alone", 0, 3, name, {"these ranks of 3 have not come: 2"});
  const pid_t second = spawn("alone", 1, 3, name, {"2"});
  EXPECT_EQ(status_of(first), 0);
  EXPECT_EQ(status_of(second), 0);
  EXPECT_EQ(status_of(spawn("alone", 1, 2, new_name(), {"rank 1 has not met rank 0"})), 0);
}

TEST(Processes, AgreeOnWhoTheyAre) {
  const std::string name = new_name();
  const pid_t first = spawn("alone", 0, 2, name, {"rank 1 speaks of 3 ranks, rank 0 of 2"});
  const pid_t second = spawn("alone", 1, 3, name, {"rank 1 speaks of 3 ranks, rank 0 of 2"});
  EXPECT_EQ(status_of(first), 0);
  EXPECT_EQ(status_of(second), 0);
}
