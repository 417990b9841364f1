// What goes wrong with NCCL comes out as an error that says what it was, ends every wait, and leaves nothing behind.
#include <latch>

#include "nccl/ranks.h"
#include "runtime/expect_error.h"
#include "runtime/libraries.h"

namespace tandem {
namespace {

using comm::Backend;
using comm::Collective;
using testing::Rank;
using testing::run_ranks;
using testing::stand_in;

class NcclFailures : public testing::NcclTest {
 protected:
  ~NcclFailures() override {
    expect_orderly();
    const std::lock_guard lock(stand_in()->mutex);
    stand_in()->trouble = ncclSuccess;
  }
  static void wish(const char* function, ncclResult_t result) {
    const std::lock_guard lock(stand_in()->mutex);
    stand_in()->fail[function] = result;
  }
};

void all_reduce(Rank& rank, const Tensor& t) { rank.run(rank.nccl, testing::in_place(Collective::AllReduce, t)); }

TEST_F(NcclFailures, SayWhichCallFailed) {
  run_ranks(1, [&](Rank& rank) {
    const Tensor t = rank.here(ones({2}));
    wish("ncclAllReduce", ncclUnhandledCudaError);
    EXPECT_ERROR(all_reduce(rank, t), Error, "NCCL's ncclAllReduce failed: a stand-in's error: as the test wished");
    all_reduce(rank, t);
    for (const cuda::Library& library : cuda::libraries()) {
      if (library.name == "NCCL") {
        EXPECT_TRUE(library.failure.starts_with("NCCL's ncclAllReduce failed")) << library.failure;
      }
    }
  });
  wish("ncclCommInitRankConfig", ncclInvalidUsage);
  EXPECT_ERROR(run_ranks(1, [](Rank&) {}), Error, "NCCL's ncclCommInitRankConfig failed");
  wish("ncclGetUniqueId", ncclSystemError);
  EXPECT_ERROR(run_ranks(2, [](Rank&) {}), Error, "NCCL's ncclGetUniqueId failed");
}

TEST_F(NcclFailures, AreListedWithTheLibrary) {
  for (const cuda::Library& library : cuda::libraries()) {
    if (library.name != "NCCL") continue;
    EXPECT_TRUE(library.why.empty()) << library.why;
    EXPECT_EQ(library.version, "2.28.9");
    return;
  }
  FAIL() << "NCCL is not listed";
}

TEST_F(NcclFailures, MissingRanksAreToldAfterTheTimeLimit) {
  stand_in()->returns_at_once = true;
  run_ranks(2, [&](Rank& rank) {
    if (rank.rank == 1) {  // it never calls, and is told
      EXPECT_TRUE(testing::comes_true([&] {
        try {
          rank.run(rank.host, {.kind = Collective::Barrier, .sizes = {}});
          return false;
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("all_reduce of float32 [2] (SUM) at ranks.cpp:7 did not end within its time limit"),
                    std::string::npos)
              << error.what();
          return true;
        }
      }));
      return;
    }
    const Tensor t = rank.here(ones({2}));
    rank.limit = std::chrono::milliseconds(20);
    all_reduce(rank, t);
    EXPECT_ERROR(cuda::synchronize(rank.device()), Error,
                 "[all_reduce] all_reduce of float32 [2] (SUM) at ranks.cpp:7 did not end within its time limit: not all ranks called it");
    EXPECT_ERROR(all_reduce(rank, t), Error, "did not end within its time limit");
    rank.limit = std::chrono::seconds(60);
    cuda::synchronize(rank.device());  // the stream can be used again
  });
}

TEST_F(NcclFailures, OfOtherRanksAreSeen) {
  stand_in()->returns_at_once = true;
  std::latch joined(2);  // trouble that comes before would fail a rank's joining
  run_ranks(2, [&](Rank& rank) {
    joined.arrive_and_wait();
    if (rank.rank == 1) return;
    const Tensor t = rank.here(ones({2}));
    all_reduce(rank, t);
    {
      const std::lock_guard lock(stand_in()->mutex);
      stand_in()->trouble = ncclRemoteError;
    }
    EXPECT_ERROR(cuda::synchronize(rank.device()), Error, "remote process exited");
    EXPECT_ERROR(all_reduce(rank, t), Error, "remote process exited");
  });
}

TEST_F(NcclFailures, AbortEndsEveryWait) {
  stand_in()->returns_at_once = true;
  run_ranks(2, [&](Rank& rank) {
    if (rank.rank == 1) return;
    const Tensor t = rank.here(ones({2}));
    all_reduce(rank, t);
    std::thread other([&] { rank.nccl.abort("the test has had enough"); });
    EXPECT_ERROR(cuda::synchronize(rank.device()), Error, "the test has had enough");
    other.join();
    EXPECT_ERROR(all_reduce(rank, t), Error, "the test has had enough");
  });
}

TEST_F(NcclFailures, RanksThatShareAGpuAreRefused) {
  const auto team = comm::make_thread_team(2);
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      comm::LocalBackend host(team, r);
      try {
        (void)testing::factory().make({.rank = r, .size = 2, .timeout = std::chrono::seconds(60), .device = gpu(0), .host = &host});
      } catch (const Error& error) {
        errors[static_cast<size_t>(r)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors)
    EXPECT_NE(error.find("which NCCL does not do: give each rank a GPU of its own"), std::string::npos) << error;
}

TEST_F(NcclFailures, NeedAGpuAndAHost) {
  EXPECT_ERROR((void)testing::factory().make({.rank = 0, .size = 1}), Error, "the back end nccl needs a GPU");
  EXPECT_ERROR((void)testing::factory().make({.rank = 0, .size = 2, .device = gpu(0)}), Error, "needs one for the host beside it");
}

}  // namespace
}  // namespace tandem
