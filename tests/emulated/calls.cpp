// Whether virtual GPUs that compute with NVIDIA's libraries ask them: for every floating type a product, a convolution and recurrent layers
// with their gradients; decompositions in float and double. Each is counted by libtandem_emulated.so and compared with the CPU's. And what
// comes of threads that want plans, and of a call that fails. Exit code 77 where a library is missing.
#include <dlfcn.h>
#include <tandem/tandem.h>

#include <atomic>
#include <thread>
#include <vector>

#include "programs/check.h"
#include "runtime/beside_library.h"
#include "runtime/libraries.h"
#include "support/virtual_kernels.h"

namespace td = tandem;

namespace {

struct Calls {
  int64_t products = 0, convolutions = 0, decompositions = 0, recurrent = 0, copies = 0, plans = 0, held = 0;
};

template <class Function>
Function function_of_library(const char* name) {
  static void* const library = dlopen(td::runtime::beside_library("libtandem_emulated.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found) throw td::Error(std::string("libtandem_emulated.so lacks ") + name);
  return reinterpret_cast<Function>(found);
}

Calls calls_now() {
  static const auto count = function_of_library<void (*)(int64_t(*)[7])>("tandem_emulated_calls");
  int64_t counts[7];
  count(&counts);
  return {counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], counts[6]};
}
/// After all that was queued.
Calls calls() {
  td::cuda::synchronize();
  return calls_now();
}

/// On both devices: whether the results are near each other, in float64.
bool agree(const td::Tensor& on_gpu, const td::Tensor& on_cpu, td::DType dtype) {
  const double tolerance = dtype == td::kFloat16 ? 2e-2 : dtype == td::kBFloat16 ? 2e-1 : 1e-4;
  return td::allclose(on_gpu.cpu().to(td::kFloat64), on_cpu, tolerance, tolerance);
}

void products(td::DType dtype) {
  const td::Tensor a = td::randint(-4, 5, {3, 5, 7}, {.dtype = td::kFloat64}), b = td::randint(-4, 5, {3, 7, 6}, {.dtype = td::kFloat64});
  const int64_t before = calls().products;
  const td::Tensor out = td::matmul(a.to(td::gpu()).to(dtype), b.to(td::gpu()).to(dtype));
  CHECK(agree(out, td::matmul(a, b), dtype));
  CHECK(calls().products > before);
}

/// Operands without a dense dimension - the gradient of a sum, every other column - are given to the library, too.
void expanded_products(td::DType dtype) {
  for (const td::Shape& batch : {td::Shape{}, td::Shape{3}}) {
    td::Shape left = batch, right = batch;
    for (const int64_t size : {6, 14}) left.push_back(size);
    for (const int64_t size : {7, 5}) right.push_back(size);
    const td::Tensor a = td::randint(-4, 5, left, {.dtype = td::kFloat64}), b = td::randint(-4, 5, right, {.dtype = td::kFloat64});
    std::vector<td::Tensor> results[2];
    const int64_t before = calls().products;
    for (const bool on_gpu : {false, true}) {
      const auto placed = [&](const td::Tensor& x) { return on_gpu ? x.to(td::gpu()).to(dtype).detach() : x.clone(); };
      const td::Tensor wide = placed(a).requires_grad_(), weight = placed(b).requires_grad_();
      const td::Tensor out = td::matmul(wide.slice(-1, 0, 14, 2), weight);
      out.sum().backward();
      results[on_gpu] = {out, wide.grad(), weight.grad()};
    }
    for (size_t i = 0; i < 3; ++i) CHECK(agree(results[1][i], results[0][i], dtype));
    CHECK(calls().products >= before + 3);
  }
  // A batch that repeats one such matrix, beside one that does not.
  const td::Tensor a = td::randint(-4, 5, {6, 14}, {.dtype = td::kFloat64}), b = td::randint(-4, 5, {3, 7, 5}, {.dtype = td::kFloat64});
  const auto product = [](const td::Tensor& x, const td::Tensor& y) {
    return td::bmm(x.slice(-1, 0, 14, 2).unsqueeze(0).expand({3, 6, 7}), y);
  };
  const int64_t before = calls().products;
  CHECK(agree(product(a.to(td::gpu()).to(dtype), b.to(td::gpu()).to(dtype)), product(a, b), dtype));
  CHECK(calls().products > before);
}

void convolutions(td::DType dtype) {
  std::vector<td::Tensor> results[2];
  const td::Tensor data = td::randint(-2, 3, {2, 8, 9, 7}, {.dtype = td::kFloat64}),
                   weight = td::randint(-2, 3, {8, 4, 3, 2}, {.dtype = td::kFloat64});
  const int64_t before = calls().convolutions;
  for (const bool on_gpu : {false, true}) {
    const auto placed = [&](const td::Tensor& x) { return on_gpu ? x.to(td::gpu()).to(dtype).detach() : x.clone(); };
    td::Tensor in = placed(data), filter = placed(weight);
    in.requires_grad_();
    filter.requires_grad_();
    const td::Tensor out = td::conv2d(in, filter, {}, {.stride = {2, 1}, .padding = {1, 0}, .groups = 2});
    out.sum().backward();
    results[on_gpu] = {out, in.grad(), filter.grad()};
  }
  for (size_t i = 0; i < 3; ++i) CHECK(agree(results[1][i], results[0][i], dtype));
  CHECK(calls().convolutions >= before + 3);
}

/// Of one matrix: our own kernels do many.
void decompositions(td::DType dtype) {
  const td::Tensor x = td::randint(-4, 5, {5, 5}, {.dtype = td::kFloat64}),
                   definite = td::matmul(x, x.mT()) + 10 * td::eye(5, 5, {.dtype = td::kFloat64});
  const td::Tensor placed = definite.to(td::gpu()).to(dtype);
  const auto expect = [&](const td::Tensor& on_gpu, const td::Tensor& on_cpu) { CHECK(agree(on_gpu, on_cpu, dtype)); };
  const int64_t before = calls().decompositions;
  expect(td::linalg::cholesky(placed), td::linalg::cholesky(definite));
  expect(td::linalg::det(placed), td::linalg::det(definite));
  expect(td::linalg::svdvals(placed), td::linalg::svdvals(definite));
  CHECK(calls().decompositions >= before + 3);
}

/// Layers and both their gradients. Parameters that a module has put into cuDNN's order are not copied, others are.
void recurrent_layers(td::DType dtype) {
  const td::Tensor data = td::randn({4, 3, 5}, {.dtype = td::kFloat64});
  for (const bool bidirectional : {false, true}) {
    for (const bool bias : {false, true}) {
      td::nn::LSTM net(5, 6, {.num_layers = 2, .bias = bias, .bidirectional = bidirectional, .dtype = td::kFloat64});
      std::vector<td::Tensor> results[2];
      for (const bool on_gpu : {false, true}) {
        if (on_gpu) net.to(td::gpu(), dtype);
        const auto step = [&] {
          net.zero_grad();
          td::Tensor in = on_gpu ? data.to(td::gpu()).to(dtype).detach() : data.clone();
          in.requires_grad_();
          const auto [output, state] = net(in);
          (output.square().sum() + state.c.sum()).backward();
          results[on_gpu] = {output, in.grad()};
          for (const td::Tensor& parameter : net.weights) results[on_gpu].push_back(parameter.grad().clone());  // `to` moves it
        };
        const Calls before = calls();
        step();
        if (!on_gpu) continue;
        const auto agree_all = [&] {
          for (size_t i = 0; i < results[1].size(); ++i) CHECK(agree(results[1][i], results[0][i], dtype));
        };
        agree_all();
        const Calls after = calls();
        const auto gradients = static_cast<int64_t>(net.weights.size());
        CHECK(after.recurrent == before.recurrent + 3);
        CHECK(after.copies == before.copies + gradients);
        // A parameter elsewhere: all are copied, for both directions of the step, until the network is moved.
        net.weights[0] = net.weights[0].detach().clone().requires_grad_();
        step();
        agree_all();
        CHECK(calls().copies > after.copies + 2 * gradients);
        net.to(td::cpu());
        net.to(td::gpu());
        const Calls flat = calls();
        step();
        agree_all();
        CHECK(calls().copies == flat.copies + gradients);
      }
    }
  }
}

/// While a plan is made, calls that have theirs go on; of two threads that want the same one, one makes it.
void plans_by_threads() {
  const auto hold = function_of_library<void (*)(bool)>("tandem_emulated_hold_plans");
  const td::Tensor weight = td::randn({4, 3, 3, 3}), small = td::randn({1, 3, 6, 6}), large = td::randn({1, 3, 12, 12});
  const auto as_on_cpu = [&](const td::Tensor& image) {
    return td::allclose(td::conv2d(image.to(td::gpu()), weight.to(td::gpu())).cpu(), td::conv2d(image, weight), 1e-3, 1e-3);
  };
  CHECK(as_on_cpu(small));
  const int64_t before = calls().plans;
  hold(true);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { good += as_on_cpu(large); });
  while (calls_now().held == 0) std::this_thread::yield();
  CHECK(as_on_cpu(small));
  hold(false);
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 2);
  CHECK(calls().plans == before + 1);
}

/// The next call of a library's function fails.
void fail_next(const char* function) { function_of_library<void (*)(const char*)>("tandem_emulated_fail")(function); }

td::cuda::Library library_named(const std::string& name) {
  for (const td::cuda::Library& library : td::cuda::libraries())
    if (library.name == name) return library;
  throw td::Error("no library is called " + name);
}

/// Where a kernel of ours can take over, it does, and the library says what went wrong; else the error names the call and its status.
void failures() {
  for (const char* name : {"cuBLASLt", "cuDNN", "cuSOLVER"}) {
    const td::cuda::Library library = library_named(name);
    CHECK(library.why.empty() && library.failure.empty() && !library.version.empty() && library.file.find(".so") != std::string::npos);
  }
  const td::Tensor a = td::randn({2, 5, 7}), b = td::randn({2, 7, 3}), image = td::randn({2, 3, 11, 9}), weight = td::randn({4, 3, 3, 2});
  const td::Tensor bias = td::randn({2, 5, 3});
  fail_next("cublasLtMatmul");
  CHECK(td::allclose(td::baddbmm(bias.to(td::gpu()), a.to(td::gpu()), b.to(td::gpu())).cpu(), td::baddbmm(bias, a, b), 1e-4, 1e-4));
  CHECK(library_named("cuBLASLt").failure == "cuBLASLt's cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED");
  for (const char* function : {"cudnnSetStream", "cudnnBackendExecute"}) {
    std::vector<td::Tensor> results[2];
    for (const bool on_gpu : {false, true}) {
      const td::Device device = on_gpu ? td::gpu() : td::cpu();
      td::Tensor in = image.to(device).detach(), filter = weight.to(device).detach();
      in.requires_grad_();
      filter.requires_grad_();
      if (on_gpu) fail_next(function);
      const td::Tensor out = td::conv2d(in, filter);
      td::cuda::synchronize();
      if (on_gpu) fail_next(function);
      out.square().sum().backward();
      results[on_gpu] = {out, in.grad(), filter.grad()};
    }
    for (size_t i = 0; i < 3; ++i) CHECK(td::allclose(results[1][i].cpu(), results[0][i], 1e-3, 1e-3));
    CHECK(library_named("cuDNN").failure.starts_with(std::string("cuDNN's ") + function + " failed: CUDNN_STATUS_"));
  }
  {
    td::nn::GRU net(3, 4);
    const td::Tensor in = td::randn({2, 5, 3}), expected = net(in).output.detach();
    net.to(td::gpu());
    fail_next("cudnnRNNForward");
    CHECK(td::allclose(net(in.to(td::gpu())).output.cpu(), expected, 1e-4, 1e-4));
    CHECK(library_named("cuDNN").failure == "cuDNN's cudnnRNNForward failed: CUDNN_STATUS_EXECUTION_FAILED");
  }
  fail_next("cusolverDnSetStream");
  std::string text;
  try {
    (void)td::linalg::cholesky(td::eye(3, 3).to(td::gpu())).cpu();
  } catch (const td::Error& error) {
    text = error.what();
  }
  CHECK(text.starts_with("[linalg.cholesky] cuSOLVER's cusolverDnSetStream failed: CUSOLVER_STATUS_INTERNAL_ERROR"));
}

}  // namespace

int main() {
  if (const int code = td::testing::use_kernels_of_environment()) return code;
  try {
    td::manual_seed(5);
    for (const td::DType dtype : {td::kFloat64, td::kFloat32, td::kFloat16, td::kBFloat16}) {
      products(dtype);
      expanded_products(dtype);
      convolutions(dtype);
      recurrent_layers(dtype);
    }
    for (const td::DType dtype : {td::kFloat64, td::kFloat32}) decompositions(dtype);
    plans_by_threads();
    failures();
  } catch (const td::Error& error) {
    check(false, error.what(), __LINE__);
  }
  return finish();
}
