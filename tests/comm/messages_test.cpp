// Messages between two ranks of one process, at the back end itself: what several receivers of one rank do to each other.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <filesystem>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

#include "comm/local/backend.h"
#include "comm/local/team.h"
#include "support/on_device.h"
#include "tandem.h"

namespace {

/// What the calling thread does once, after it has let go of a mutex.
thread_local std::function<void()> after_unlock;

}  // namespace

// In the place of the system's, for the library too: between letting go of a lock and the next instruction any time may pass.
extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static const auto real = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_unlock"));
  const int result = real(mutex);
  if (after_unlock) std::exchange(after_unlock, nullptr)();
  return result;
}

namespace tandem::comm {
namespace {

constexpr int kFirst = 1, kSecond = 2;  // tags

Call call_of(Collective kind, int peer, int tag) {
  Call call;
  call.kind = kind;
  call.dtype = kInt32;
  call.root = peer;
  call.tag = tag;
  call.sizes = Shape({1});
  return call;
}

/// Both ranks of a program of two threads.
struct Pair {
  std::shared_ptr<Team> team = make_thread_team(2);
  LocalBackend a{team, 0}, b{team, 1};

  static Context context_of(const Call& call) { return {call, Device(), nullptr, Clock::now() + std::chrono::seconds(10)}; }
  void send_to_a(int value, int tag) {
    Call call = call_of(Collective::Send, 0, tag);
    call.in = &value;
    b.run(context_of(call));
  }
  int receive_at_a(int tag) {
    Call call = call_of(Collective::Recv, 1, tag);
    int value = -1;
    call.out = &value;
    a.run(context_of(call));
    return value;
  }
};

TEST(Messages, OneThatAnotherReceiverHasReadIsFound) {
  Pair pair;
  std::binary_semaphore found_none{0}, go_on{0};
  int first = 0;
  std::thread waiting([&] {
    after_unlock = [&] {
      found_none.release();
      go_on.acquire();
    };
    try {
      first = pair.receive_at_a(kFirst);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  });
  found_none.acquire();  // the channel was empty, and it is about to wait
  pair.send_to_a(11, kFirst);
  pair.send_to_a(22, kSecond);
  EXPECT_EQ(pair.receive_at_a(kSecond), 22);  // for which it has read the first one, too
  go_on.release();
  waiting.join();
  EXPECT_EQ(first, 11);
}

int threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

// They are sent the other way round, so that none of them can wait at the end of a queue.
TEST(Messages, ThousandsOfTagsTakeAFewThreads) {
  constexpr int kTags = 2000;
  for (const bool on_gpu : {false, true}) {
    distributed::run_ranks(2, [&](int rank) {
      const Device device = on_gpu ? gpu(rank) : cpu();
      std::vector<Tensor> tensors;
      for (int tag = 0; tag < kTags; ++tag) tensors.push_back(full({2}, rank == 0 ? 1. * tag : -1., {.device = device}));
      if (on_gpu) cuda::synchronize();
      distributed::barrier();
      const int before = threads();
      std::vector<distributed::Work> works;
      for (int tag = 0; tag < kTags && rank == 1; ++tag) works.push_back(distributed::irecv(tensors[static_cast<size_t>(tag)], 0, tag));
      distributed::barrier();
      for (int tag = kTags; tag-- > 0 && rank == 0;) works.push_back(distributed::isend(tensors[static_cast<size_t>(tag)], 1, tag));
      EXPECT_LE(threads(), before + 8);
      for (const auto& work : works) work.wait();
      for (int tag = 0; tag < kTags; ++tag) ASSERT_EQ(tensors[static_cast<size_t>(tag)][0].item<int>(), tag);
      EXPECT_LE(threads(), before + 8);
      distributed::barrier();
    });
  }
}

TEST(Messages, LongOnesCross) {
  constexpr int64_t kCount = 1000003;  // many times what a channel holds
  for (const bool on_gpu : {false, true}) {
    distributed::run_ranks(2, [&](int rank) {
      const Device device = on_gpu ? gpu(rank) : cpu();
      const Tensor mine = arange(kCount, {.dtype = kFloat32, .device = device}) * (rank + 1);
      const Tensor first = zeros({kCount}, {.device = device}), second = zeros({kCount}, {.device = device});
      std::vector<distributed::Work> works;
      works.push_back(distributed::isend(mine, 1 - rank, 1));
      works.push_back(distributed::isend(mine * 10, 1 - rank, 2));
      works.push_back(distributed::irecv(second, 1 - rank, 2));
      works.push_back(distributed::irecv(first, 1 - rank, 1));
      for (const auto& work : works) work.wait();
      const Tensor expected = arange(kCount, {.dtype = kFloat32, .device = device}) * (2 - rank);
      EXPECT_TRUE(equal(first, expected));
      EXPECT_TRUE(equal(second, expected * 10));
    });
  }
}

// What was asked for first gets what was sent first, whoever waits.
TEST(Messages, OfOneTagKeepTheirOrder) {
  distributed::run_ranks(2, [](int rank) {
    if (rank == 0) {
      for (int i = 0; i < 100; ++i) {
        if (i % 3 == 0) distributed::send(full({1}, 1. * i), 1);
        else distributed::isend(full({1}, 1. * i), 1).wait();
      }
      return;
    }
    std::vector<Tensor> tensors;
    std::vector<distributed::Work> works;
    for (int i = 0; i < 100; ++i) {
      tensors.push_back(zeros({1}));
      if (i % 7 == 6) distributed::recv(tensors.back(), 0);
      else works.push_back(distributed::irecv(tensors.back(), 0));
    }
    for (const auto& work : works) work.wait();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(tensors[static_cast<size_t>(i)].item<int>(), i);
  });
}

TEST(Messages, ThatNeverComeEndWithTheGroup) {
  for (const bool on_gpu : {false, true}) {
    distributed::run_ranks(2, [&](int rank) {
      const Device device = on_gpu ? gpu(rank) : cpu();
      std::vector<Tensor> tensors;
      std::vector<distributed::Work> works;
      for (int tag = 0; tag < 300; ++tag) {
        tensors.push_back(zeros({1}, {.device = device}));
        works.push_back(distributed::irecv(tensors.back(), 1 - rank, tag));
      }
      distributed::barrier();
      distributed::destroy_process_group();
      for (const auto& work : works) EXPECT_THROW(work.synchronize(), Error);
    });
  }
}

}  // namespace
}  // namespace tandem::comm
