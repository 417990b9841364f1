// Messages between two ranks of one process, at the back end itself: what several receivers of one rank do to each other.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <semaphore>
#include <thread>

#include "comm/local_backend.h"
#include "comm/team.h"

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
    const Call call = call_of(Collective::Send, 0, tag);
    b.send(context_of(call), &value, 1, kInt32, 0, tag);
  }
  int receive_at_a(int tag) {
    const Call call = call_of(Collective::Recv, 1, tag);
    int value = -1;
    a.recv(context_of(call), &value, 1, kInt32, 1, tag);
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

}  // namespace
}  // namespace tandem::comm
