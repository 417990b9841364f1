// `tandem tour`: using GPUs, from naming one to training on it. Every line shown is the line that runs; what follows it is what came out.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "base/env.h"
#include "tandem.h"
#include "tools/program.h"

namespace td = tandem;

namespace tandem::tools {
namespace {

void heading(const char* text) { std::cout << "\n// " << text << '\n'; }
void input(const char* text) { std::cout << "> " << text << std::endl; }

void show(Device device) { std::cout << device.repr() << '\n'; }
void show(bool value) { std::cout << (value ? "true" : "false") << '\n'; }
void show(int value) { std::cout << value << '\n'; }
void show(const std::string& value) { std::cout << value << '\n'; }
void show(const Tensor& value) { std::cout << value << '\n'; }
void show(const std::vector<Device>& devices) {
  std::string text;
  for (const Device device : devices) text += (text.empty() ? "" : ", ") + device.repr();
  std::cout << '[' << text << "]\n";
}

// A line that gives something, one that does something (what it declares stays), and one that fails.
#define SHOW(...)      \
  input(#__VA_ARGS__); \
  show(__VA_ARGS__)
#define RUN(...)           \
  input(#__VA_ARGS__ ";"); \
  __VA_ARGS__
#define SHOW_ERROR(...) \
  input(#__VA_ARGS__);  \
  show_error(#__VA_ARGS__, [&] { static_cast<void>(__VA_ARGS__); })

template <class F>
void show_error(const char* line, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    std::cout << "tandem::Error: " << error.what() << '\n';
    return;
  }
  fail("[tour] ", line, " should have been refused");
}

int tour() {
  if (const int there = num_gpus(); there < 2)
    fail("the tour needs two GPUs, and there ", there == 1 ? "is one" : "is none",
         " here; take virtual ones: TANDEM_VIRTUAL_GPUS=2 tandem tour");
  std::cout << "// Using GPUs: each line after > is run as it stands; namespace td = tandem.\n";
  RUN(td::manual_seed(0));

  heading("Devices: the CPU and the GPUs have names, whether they are there or not.");
  SHOW(td::cpu());
  SHOW(td::gpu());
  SHOW(td::gpu(1));
  heading("How many GPUs there are, and what one says of itself.");
  SHOW(td::num_gpus());
  SHOW(td::cuda::get_device_name(0));
  heading("A GPU where it is there, the CPU where it is not: programs run either way.");
  SHOW(td::try_gpu());
  SHOW(td::try_gpu(10));
  SHOW(td::try_all_gpus());

  heading("Tensors are made on the CPU unless told otherwise.");
  RUN(const auto x = td::tensor({1, 2, 3}));
  SHOW(x.device());
  heading("On a GPU: its memory holds the tensor, and it computes what comes of it.");
  RUN(const auto X = td::ones({2, 3}, td::try_gpu()));
  SHOW(X);
  SHOW(X * 2 + 1);
  heading("On the second one.");
  RUN(const auto Y = td::rand({2, 3}, td::try_gpu(1)));
  SHOW(Y);

  heading("X and Y live on two devices: they cannot be added where they are.");
  SHOW_ERROR(X + Y);
  heading("So X is copied to the second GPU; the sum is computed, and stays, there.");
  RUN(const auto Z = X.cuda(1));
  SHOW(X);
  SHOW(Z);
  SHOW(Y + Z);
  heading("What is there already is not copied: the same tensor comes back.");
  SHOW(Z.cuda(1).is_same(Z));
  SHOW(Z.cuda(0).is_same(Z));
  heading("Results are taken back to the CPU when they are wanted there.");
  SHOW((Y + Z).cpu().device());
  SHOW(Z.sum().item<float>() == 6);

  heading("A model is moved as a whole; its parameters are made where it lives.");
  RUN(td::nn::Sequential net(td::nn::LazyLinear(1)));
  RUN(net.to(td::try_gpu()));
  SHOW(net(X));
  SHOW(net.at<td::nn::LazyLinear>(0).weight.device());
  SHOW(net.at<td::nn::LazyLinear>(0).weight);
  SHOW_ERROR(net(td::ones({2, 3})));
  heading("Gradients and the optimizer's step stay on the GPU, too.");
  RUN(td::optim::SGD sgd(net.parameters(), {.lr = 0.1}));
  RUN(const auto loss = td::mse_loss(net(X), td::zeros({2, 1}, td::try_gpu())));
  RUN(loss.backward());
  RUN(sgd.step());
  SHOW(net.at<td::nn::LazyLinear>(0).weight.grad().device());
  SHOW((td::mse_loss(net(X), td::zeros({2, 1}, td::try_gpu())) < loss).item<bool>());

  // Virtual GPUs are there for whoever sets the variable, and for nobody else: the line says so, and works as it stands.
  const auto virtual_gpus = environment("TANDEM_VIRTUAL_GPUS");
  std::cout << "\n// Next, a network that learns handwritten digits on both GPUs:\n"
            << (virtual_gpus ? "TANDEM_VIRTUAL_GPUS=" + *virtual_gpus + " " : "") << "tandem train digits --gpus 2" << std::endl;
  return 0;
}

}  // namespace

void add_tour(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("tour", "Show how GPUs are used, line by line: each one runs, and its output follows");
  command->callback([&action] { action = tour; });
}

}  // namespace tandem::tools
