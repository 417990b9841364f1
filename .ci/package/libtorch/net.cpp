// A program for libtorch: a net of registered layers learns a line, is saved and read again.
#include <torch/torch.h>

#include <iostream>

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t hidden) : first(register_module("first", torch::nn::Linear(1, hidden))), second(hidden, 1) {
    register_module("second", second);
    scale = register_parameter("scale", torch::ones(1));
  }
  torch::Tensor forward(torch::Tensor x) { return second(torch::relu(first->forward(x))) * scale; }

  torch::nn::Linear first, second;
  torch::Tensor scale;
};
TORCH_MODULE(Net);

int main() {
  torch::manual_seed(0);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net net(16);
  net->to(device);
  const auto x = torch::linspace(-1, 1, 64).unsqueeze(1).to(device), y = 3 * x - 0.5;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.05));
  float loss = 0;
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    auto error = torch::mse_loss(net(x), y);
    error.backward();
    optimizer.step();
    loss = error.item<float>();
  }
  torch::save(net, "net.pt");
  Net other(16);
  torch::load(other, "net.pt");
  other->to(device);
  const bool same = torch::equal(net(x), other(x));
  std::cout << "loss " << loss << (same ? ", read again\n" : ", read wrongly\n");
  return loss < 0.01F && same ? 0 : 1;
}
