// Four things to try on GPUs, as the chapter "GPUs" of "Dive into Deep Learning" asks for: where a GPU begins to pay, saving and loading
// what lives on it, what it costs to look at each result, and two GPUs at once. With two virtual GPUs: TANDEM_VIRTUAL_GPUS=2 gpu_exercises
#include <tandem/tandem.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>

namespace td = tandem;

/// Milliseconds that `work` takes, with all that it has queued: the median of five times, after one that warms up.
double milliseconds(const std::function<void()>& work) {
  const auto wait = [] {
    for (const auto device : td::try_all_gpus())
      if (device.is_cuda()) td::cuda::synchronize(device);
  };
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    wait();
    const auto start = std::chrono::steady_clock::now();
    work();
    wait();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin() + 1, times.end());
  return times[3];
}

/// Small products cost more to start than to compute; from some size on the faster device wins.
void where_a_gpu_begins_to_pay() {
  std::cout << "1. Products of n x n matrices, in milliseconds\n       n        cpu     " << td::try_gpu().str() << "\n";
  for (const int64_t n : {50, 100, 1000, 4000}) {
    const auto product_on = [n](td::Device device) {
      const auto a = td::randn({n, n}, device), b = td::randn({n, n}, device);
      return milliseconds([&] { (void)td::matmul(a, b); });
    };
    const double on_cpu = product_on(td::cpu()), on_gpu = product_on(td::try_gpu());
    std::cout << std::setw(8) << n << std::setw(11) << on_cpu << std::setw(11) << on_gpu << "\n";
  }
}

struct Net : td::nn::Module {
  td::nn::Linear hidden{20, 64}, output{64, 1};
  void fields(td::nn::Fields& f) override {
    f("hidden", hidden);
    f("output", output);
  }
  td::Tensor forward(const td::Tensor& x) override { return output(td::relu(hidden(x))); }
};

/// A step of learning; its loss.
double learn(Net& net, td::optim::Optimizer& optimizer, const td::Tensor& x, const td::Tensor& y) {
  const auto device = net.output.weight.device();
  optimizer.zero_grad();
  const auto loss = td::mse_loss(net(x.to(device)), y.to(device));
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

/// What is written on one device goes on on another: parameters, and the optimizer's state with them.
void saving_and_loading() {
  const auto path = (std::filesystem::temp_directory_path() / "gpu_exercises.safetensors").string();
  const auto x = td::randn({32, 20}), y = td::randn({32, 1});
  Net net;
  net.to(td::try_gpu());
  td::optim::Adam adam(net.parameters(), {.lr = 1e-2});
  for (int i = 0; i < 10; ++i) (void)learn(net, adam, x, y);
  td::save(path, net, adam);

  Net elsewhere;
  elsewhere.to(td::try_gpu(1));  // the second GPU, or the CPU where there is none
  td::optim::Adam same_adam(elsewhere.parameters());
  td::load(path, elsewhere, same_adam);
  std::filesystem::remove(path);
  std::cout << "\n2. Written on " << net.output.weight.device().str() << ", read on " << elsewhere.output.weight.device().str()
            << ": both go on with the same losses\n";
  for (int i = 0; i < 3; ++i) std::cout << "   " << learn(net, adam, x, y) << "  " << learn(elsewhere, same_adam, x, y) << "\n";
}

/// A number on the host is waited for; one that stays on the device is not.
void looking_at_each_result() {
  const auto a = td::randn({100, 100}, td::try_gpu()), b = td::randn({100, 100}, td::try_gpu());
  const double one_by_one = milliseconds([&] {
    std::vector<float> log;
    for (int i = 0; i < 1000; ++i) log.push_back(td::norm(td::matmul(a, b)).item<float>());
  });
  const double at_the_end = milliseconds([&] {
    std::vector<td::Tensor> log;
    for (int i = 0; i < 1000; ++i) log.push_back(td::norm(td::matmul(a, b)));
    (void)td::stack(log).cpu();
  });
  std::cout << "\n3. 1000 products of 100 x 100 matrices, and the norm of each\n   taken to the host one by one: " << one_by_one
            << " ms\n   kept on the device, taken once: " << at_the_end << " ms\n";
}

/// A call returns when its work is queued, so one thread keeps two GPUs busy.
void two_gpus_at_once() {
  if (td::num_gpus() < 2) {
    std::cout << "\n4. needs two GPUs; virtual ones do: TANDEM_VIRTUAL_GPUS=2\n";
    return;
  }
  const auto first = td::randn({2000, 2000}, td::gpu(0)), second = td::randn({2000, 2000}, td::gpu(1));
  const double on_one = milliseconds([&] {
    (void)td::matmul(first, first);
    (void)td::matmul(first, first);
  });
  const double on_two = milliseconds([&] {
    (void)td::matmul(first, first);
    (void)td::matmul(second, second);
  });
  std::cout << "\n4. Two products of 2000 x 2000 matrices\n   both on " << first.device().str() << ": " << on_one
            << " ms\n   one on each GPU: " << on_two << " ms, " << on_one / on_two << " times as fast\n";
}

int main() {
  td::manual_seed(0);
  std::cout << std::fixed << std::setprecision(3);
  where_a_gpu_begins_to_pay();
  saving_and_loading();
  looking_at_each_result();
  two_gpus_at_once();
}
