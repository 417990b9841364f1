// One layer on several ranks: a pair of Linears whose hidden features are divided, as in Megatron-LM (Shoeybi et al., 2019). The first
// one's rows are cut, so each rank computes some hidden features of the whole batch; the second one's columns are cut, so each rank has a
// part of the sum that is the output, and one all_reduce makes it whole. Ends with 0 where results and gradients are those of one device.
//   tandem launch -n 4 tensor_parallel        or, with the ranks as threads of this process:  tensor_parallel [RANKS]
#include <tandem/tandem.h>

#include <atomic>
#include <cstdlib>
#include <iostream>

namespace td = tandem;
namespace dist = td::distributed;

/// x itself, whose gradient is the sum over all ranks: each of them computes only some of what follows from x.
struct Spread : td::autograd::Function<Spread> {
  static td::Tensor forward(td::autograd::Context&, const td::Tensor& x) { return x.clone(); }
  static std::vector<td::Tensor> backward(td::autograd::Context&, const std::vector<td::Tensor>& gradients) {
    const td::Tensor sum = gradients[0].clone();
    dist::all_reduce(sum);
    return {sum};
  }
};

/// The sum over all ranks, whose gradient every rank has already.
struct Joined : td::autograd::Function<Joined> {
  static td::Tensor forward(td::autograd::Context&, const td::Tensor& x) {
    const td::Tensor sum = x.clone();
    dist::all_reduce(sum);
    return sum;
  }
  static std::vector<td::Tensor> backward(td::autograd::Context&, const std::vector<td::Tensor>& gradients) { return gradients; }
};

/// This rank's part of Linear(in, hidden), GELU, Linear(hidden, out).
struct ParallelPair : td::nn::Module {
  td::nn::Linear first, second;
  td::Tensor bias;  // of the output, added once

  /// Cut out of a pair that every rank has alike.
  ParallelPair(const td::nn::Linear& whole_first, const td::nn::Linear& whole_second)
      : first(whole_first.weight.size(1), share(whole_first)),
        second(share(whole_first), whole_second.weight.size(0), {.bias = false}),
        bias(whole_second.bias.detach().clone().requires_grad_()) {
    const td::NoGradGuard no_grad;
    const int64_t from = dist::get_rank() * share(whole_first), to = from + share(whole_first);
    first.weight.copy_(whole_first.weight.slice(0, from, to));
    first.bias.copy_(whole_first.bias.slice(0, from, to));
    second.weight.copy_(whole_second.weight.slice(1, from, to));
  }
  void fields(td::nn::Fields& f) override {
    f("first", first);
    f("second", second);
    f("bias", bias);
  }
  td::Tensor forward(const td::Tensor& x) override { return Joined::apply(second(td::gelu(first(Spread::apply(x))))) + bias; }

 private:
  static int64_t share(const td::nn::Linear& whole) { return whole.weight.size(0) / dist::get_world_size(); }
};

/// Trains both for a few steps; whether they stay the same.
bool equals_one_device() {
  const auto device = td::try_gpu();
  const int64_t rank = dist::get_rank();
  td::manual_seed(1);
  td::nn::Linear first(16, 48), second(48, 4);
  for (const auto& p : {first.weight, first.bias, second.weight, second.bias}) dist::broadcast(p.detach(), 0);
  ParallelPair pair(first, second);
  td::nn::Sequential whole(first, td::nn::GELU(), second);
  pair.to(device);
  whole.to(device);
  td::optim::SGD sgd(pair.parameters(), {.lr = 0.1}), reference(whole.parameters(), {.lr = 0.1});
  bool same = true;
  for (int step = 0; step < 5; ++step) {
    const auto x = td::randn({8, 16}).to(device), y = td::randn({8, 4}).to(device);
    dist::broadcast(x, 0);  // threads share a generator
    dist::broadcast(y, 0);
    const auto in_parts = x.clone().requires_grad_(), in_one = x.clone().requires_grad_();
    sgd.zero_grad();
    reference.zero_grad();
    const auto loss = td::mse_loss(pair(in_parts), y), expected = td::mse_loss(whole(in_one), y);
    loss.backward();
    expected.backward();
    same = same && td::allclose(loss.detach(), expected.detach(), 1e-4, 1e-5) && td::allclose(in_parts.grad(), in_one.grad(), 1e-4, 1e-6);
    sgd.step();
    reference.step();
  }
  const int64_t share = 48 / dist::get_world_size();
  const auto rows = whole.at<td::nn::Linear>(0).weight.detach().slice(0, rank * share, (rank + 1) * share);
  const auto columns = whole.at<td::nn::Linear>(2).weight.detach().slice(1, rank * share, (rank + 1) * share);
  return same && td::allclose(pair.first.weight.detach(), rows, 1e-4, 1e-5) &&
         td::allclose(pair.second.weight.detach(), columns, 1e-4, 1e-5);
}

int main(int argc, char** argv) {
  std::atomic<bool> same = true;
  const auto report = [&] {
    if (!equals_one_device()) same = false;
    if (dist::get_rank() == 0) std::cout << dist::get_world_size() << " ranks " << (same ? "equal" : "differ from") << " one device\n";
  };
  if (argc > 1) {
    dist::run_ranks(std::atoi(argv[1]), [&](int) { report(); });
  } else {
    dist::init_process_group();
    report();
    dist::destroy_process_group();
  }
  return same ? 0 : 1;
}
