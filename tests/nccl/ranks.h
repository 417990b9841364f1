// Ranks as threads, each with a device of a CUDA runtime without a GPU, and NCCL's stand-in between them.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "comm/backend.h"
#include "comm/local/backend.h"
#include "nccl/stand_in.h"
#include "runtime/stream_record.h"
#include "tandem.h"
#include "tensor/tensor_impl.h"

namespace tandem::testing {

inline constexpr int kDevices = 4;

/// The stand-in, which the plug-in finds by NCCL's name, and the CUDA runtime under it. nullptr where another library of that name is
/// found.
inline NcclStandIn* stand_in() {
  static NcclStandIn* const one = [] {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    void* const plugin = dlopen(std::getenv("TANDEM_CUDA_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    const auto found = library ? reinterpret_cast<decltype(&nccl_stand_in)>(dlsym(library, "nccl_stand_in")) : nullptr;
    using Connect = void (*)(int, void (**)(CUstream_st*), void (**)(CUstream_st*), int (**)(CUstream_st*), int (**)());
    const auto connect = plugin ? reinterpret_cast<Connect>(dlsym(plugin, "tandem_fake_cuda")) : nullptr;
    if (!found || !connect) return static_cast<NcclStandIn*>(nullptr);
    NcclStandIn* const state = found();
    connect(kDevices, &state->hold, &state->release, &state->device_of, &state->current_device);
    return state;
  }();
  return one;
}

/// One rank, on its own thread.
struct Rank {
  int rank, size;
  comm::Backend& host;
  comm::Backend& nccl;
  std::chrono::milliseconds limit{60000};
  uint64_t calls = 0;

  [[nodiscard]] Device device() const { return gpu(rank); }
  [[nodiscard]] Tensor here(const Tensor& t) const { return t.to(device()); }
  static void* data(const Tensor& t) { return t.impl().data; }
  /// Makes a call, of which what varies is given: f(context) runs it on the current stream of the rank's device.
  template <class F>
  void call(comm::Call call, F f) {
    call.number = ++calls;
    call.site = Site("ranks.cpp", 7);
    const runtime::StreamRecord* const stream = runtime::current_stream(rank);
    f(comm::Context{call, device(), stream->handle, comm::Clock::now() + limit, nullptr, nullptr});
  }
  void run(comm::Backend& backend, const comm::Call& asked) {
    call(asked, [&](const comm::Context& context) { backend.run(context); });
  }
};

/// A call whose ranks each have a part like `part`, with its buffers.
inline comm::Call call_of(comm::Collective kind, const Tensor& part, const Tensor& in, const Tensor& out, int root = -1,
                          comm::ReduceOp op = comm::ReduceOp::SUM) {
  return {.kind = kind, .op = op, .dtype = part.dtype(), .root = root, .sizes = part.sizes(), .in = Rank::data(in), .out = Rank::data(out)};
}
/// One of a tensor that is read and written.
inline comm::Call in_place(comm::Collective kind, const Tensor& t, int root = -1, comm::ReduceOp op = comm::ReduceOp::SUM) {
  return call_of(kind, t, t, t, root, op);
}

inline comm::BackendFactory factory() {
  (void)cuda::device_count();  // loads the plug-in, which registers it
  for (const comm::BackendFactory& each : comm::backends())
    if (each.name == "nccl") return each;
  throw Error("there is no back end nccl");
}

/// Runs f(rank) on `size` threads; the first error is thrown here.
inline void run_ranks(int size, const std::function<void(Rank&)>& f) {
  const auto team = comm::make_thread_team(size);
  const comm::BackendFactory nccl = factory();
  std::vector<std::thread> threads;
  std::vector<std::string> errors(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r)
    threads.emplace_back([&, r] {
      comm::LocalBackend host(team, r);
      try {
        const auto backend = nccl.make({.rank = r, .size = size, .timeout = std::chrono::seconds(60), .device = gpu(r), .host = &host});
        Rank rank{r, size, host, *backend};
        f(rank);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(r)] = error.what();
        host.abort(error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors)
    if (!error.empty()) throw Error(error);
}

/// Waits until a condition holds that other threads bring about.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto until = comm::Clock::now() + std::chrono::seconds(60);
  while (!condition())
    if (comm::Clock::now() > until) return false;
    else std::this_thread::yield();
  return true;
}

/// A test on a stand-in that knows of no calls yet. Its end calls expect_orderly.
class NcclTest : public ::testing::Test {
 protected:
  NcclTest() {
    if (!stand_in()) throw Error("the stand-in of NCCL was not found: run by ctest");
    stand_in()->clear();
    alive_ = stand_in()->alive;
  }
  /// No communicator is left behind, and NCCL was called as it wants to be.
  void expect_orderly() const {
    EXPECT_TRUE(comes_true([this] {
      const std::lock_guard lock(stand_in()->mutex);
      return stand_in()->alive == alive_;
    })) << "a communicator was left";
    const std::lock_guard lock(stand_in()->mutex);
    EXPECT_EQ(stand_in()->misuses, std::vector<std::string>());
    EXPECT_EQ(stand_in()->functions["ncclGroupStart"], stand_in()->functions["ncclGroupEnd"]);
  }

 private:
  int alive_ = 0;
};

}  // namespace tandem::testing
