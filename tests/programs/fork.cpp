// env: TANDEM_VIRTUAL_GPUS=2x256MiB TANDEM_NUM_THREADS=4 ASAN_OPTIONS=detect_leaks=0
// A child's leaks are not looked for: what only the parent's other threads pointed to looks lost there.
// Children forked from a process that uses GPUs: every use of one is an error there, work on the CPU goes on, they end as any program does,
// and nothing of the parent's changes; also where other threads are in the middle of all kinds of work.
#include <sys/wait.h>
#include <tandem/tandem.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace td = tandem;

#define REFUSED(expr) CHECK_ERROR(expr, td::Error, "forked")

static td::Tensor freed_at_exit;
static td::cuda::Event destroyed_at_exit;

static constexpr unsigned kSeconds = 120;  // then a child counts as hanging

/// Whether a forked child runs `body`, in which no check fails, and ends by itself.
template <class Body>
static bool in_child(Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    passed = failed = 0;
    body();
    std::exit(failed == 0 ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// All kinds of work on the CPU, of sizes that threads share, and of shapes that `round` makes new.
static double compute_on_cpu(int64_t round) {
  const int64_t n = 100 + round % 50;
  const td::Tensor a = td::ones({n, n}).requires_grad_();
  td::matmul(a, td::ones({n, n})).sum().backward();
  const td::Tensor image = td::conv2d(td::ones({2, 16, n, 12}), td::ones({16, 16, 3, 3}));
  const td::Tensor solved = td::linalg::inv(td::eye(30) * 2);
  const td::Tensor many = td::ones({1 << 21}), random = td::rand({1000});
  return a.grad().mean().item<double>() / static_cast<double>(n) + image.mean().item<double>() / 144 + solved.sum().item<double>() / 15 +
         many.mean().item<double>() + static_cast<double>((random < 1).all().item<bool>());
}

/// A loop whose workers are waiting for it, for as long as the process lives.
static td::data::DataLoader::Iterator& begun_loop() {
  static td::data::DataLoader loader(td::data::TensorDataset({td::ones({1000, 4})}), {.batch_size = 4, .num_workers = 2});
  static td::data::DataLoader::Iterator iterator = loader.begin();
  return iterator;
}

static void every_use_of_a_gpu_is_an_error(const td::Tensor& x, const td::cuda::Stream& stream, td::cuda::Event& event,
                                           td::cuda::Graph& graph) {
  const td::Device gpu = td::gpu(0);
  CHECK(td::num_gpus() == 2);
  CHECK(x.device() == gpu && x.numel() == 1 << 20);
  REFUSED(td::ones({2}, gpu));
  REFUSED(td::ones({2}).to(gpu));
  REFUSED(x + x);
  REFUSED(x.sum());
  REFUSED(x.add_(1));
  REFUSED(x.cpu());
  REFUSED(x.to(td::gpu(1)));
  REFUSED(x[5].item<float>());
  REFUSED(x.data_ptr());
  REFUSED(shown(x));
  REFUSED(td::rand({2}, gpu));
  REFUSED(td::ones({2}).pin_memory());
  REFUSED(td::cuda::synchronize());
  REFUSED(td::cuda::set_device(1));
  REFUSED(td::cuda::DeviceGuard(td::gpu(1)));
  REFUSED(td::cuda::mem_get_info());
  REFUSED(td::cuda::memory_allocated());
  REFUSED(td::cuda::Stream(gpu));
  REFUSED(td::cuda::current_stream());
  REFUSED(td::cuda::StreamGuard(stream));
  REFUSED(stream.synchronize());
  REFUSED(stream.query());
  REFUSED((event.record(stream), 0));
  REFUSED((event.synchronize(), 0));
  REFUSED(event.query());
  REFUSED((graph.replay(), 0));
  REFUSED((td::cuda::use_virtual_gpus("1"), 0));
  // Another thread begins without streams of its own.
  std::thread([&] { REFUSED(x + x); }).join();
}

int main() {
#if defined(__SANITIZE_THREAD__)
  return 77;  // it does not take threads of a forked child
#endif
  const double right = compute_on_cpu(0);
  CHECK(right == 5);

  // A process that has used no GPU: its children may.
  CHECK(in_child([] { CHECK(td::ones({1000}, td::gpu(1)).sum().item<float>() == 1000); }));
  // What comes out of the pool of threads is right in a child too, and in its children.
  CHECK(in_child([&] {
    CHECK(compute_on_cpu(1) == right);
    CHECK(in_child([&] { CHECK(compute_on_cpu(2) == right); }));
  }));

  td::Tensor x = td::arange(1 << 20, {.dtype = td::kFloat32, .device = td::gpu(0)});
  td::Tensor pinned = td::ones({1000}).pin_memory();
  const td::cuda::Stream stream(td::gpu(0));
  td::cuda::Event event;
  td::cuda::Graph graph;
  {
    const td::cuda::StreamGuard guard(stream);
    graph.capture_begin();
    const td::Tensor kept = td::ones({100}, td::gpu(0)) + 1;
    graph.capture_end();
  }
  event.record(stream);
  destroyed_at_exit.record(stream);
  freed_at_exit = td::ones({1 << 20}, td::gpu(1));
  td::cuda::synchronize();

  CHECK(in_child([&] { every_use_of_a_gpu_is_an_error(x, stream, event, graph); }));
  CHECK(in_child([&] {
    x = {};
    pinned = {};
    graph.reset();
    event = {};
    td::cuda::empty_cache();
    CHECK(compute_on_cpu(3) == right);
    CHECK(in_child([&] { REFUSED(freed_at_exit.sum()); }));
  }));
  CHECK(in_child([] {}));
  CHECK((*begun_loop()).tensors[0].numel() == 16);
  CHECK(in_child([] {
    ++begun_loop();
    REFUSED(*begun_loop());
    int64_t batches = 0;
    for (const td::data::Batch& batch :
         td::data::DataLoader(td::data::TensorDataset({td::ones({8, 4})}), {.batch_size = 4, .num_workers = 2}))
      batches += batch.tensors[0].numel() == 16;
    CHECK(batches == 2);
  }));
  CHECK((x == td::arange(1 << 20, {.dtype = td::kFloat32, .device = td::gpu(0)})).all().item<bool>());
  CHECK(freed_at_exit.sum().item<float>() == 1 << 20);

#if !defined(__SANITIZE_ADDRESS__)  // whose allocator leaves a forked child the locks that other threads held
  // In the middle of work that allocates, computes, makes primitives, draws numbers, and uses both GPUs.
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int64_t round = 100 * i; !stop; ++round) wrong += compute_on_cpu(round) != right;
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      const td::cuda::StreamGuard guard{td::cuda::Stream(td::gpu(i))};
      while (!stop) {
        td::cuda::Event mark;
        const td::Tensor y = td::rand({300, 300}, td::gpu(i)), z = td::matmul(y, y) - td::matmul(y, y);
        mark.record();
        wrong += z.abs().sum().item<float>() != 0 || !mark.query();
      }
    });
  }
  for (int64_t round = 0; round < 25; ++round) {
    const bool ended = in_child([&] {
      CHECK(compute_on_cpu(round) == right);
      REFUSED(x + x);
      REFUSED(event.query());
      x = {};
    });
    CHECK(ended);
    if (!ended) break;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
#endif
  CHECK((x == td::arange(1 << 20, {.dtype = td::kFloat32, .device = td::gpu(0)})).all().item<bool>());
  return finish();
}
