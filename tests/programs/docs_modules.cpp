// env: TANDEM_VIRTUAL_GPUS=2x256MiB
// The programs shown in docs/tensor.md, docs/nn.md, docs/optim.md and docs/parallel.md.
#include <tandem/tandem.h>

#include <iostream>

#include "check.h"

namespace td = tandem;

struct Net : td::nn::Module {
  td::nn::Linear fc1{784, 256}, fc2{256, 10};
  td::Tensor scale = td::ones({10}, {.requires_grad = true});

  void fields(td::nn::Fields& f) override {
    f("fc1", fc1);
    f("fc2", fc2);
    f("scale", scale);
  }
  td::Tensor forward(const td::Tensor& x) override { return fc2(td::relu(fc1(x))) * scale; }
};

struct Encoder : td::nn::Callable<Encoder> {
  td::nn::Linear mean{8, 2}, deviation{8, 2};

  void fields(td::nn::Fields& f) override {
    f("mean", mean);
    f("deviation", deviation);
  }
  std::pair<td::Tensor, td::Tensor> forward(const td::Tensor& x) { return {mean(x), td::exp(deviation(x))}; }
};

int main() {
  {
    td::Tensor x = td::zeros({3, 2}), row = td::ones({2});
    x[0] = row;     // x.select(0, 0).copy_(row)
    x[1][1] = 8.0;  // fill_
    x.index({td::Ellipsis, 0}) = 5;
    td::Tensor first = x[0];
    first = row;  // x is as it was: `first` names `row` now
    CHECK(td::equal(x, td::tensor({{5.0, 1.0}, {5.0, 8.0}, {5.0, 0.0}})));

    Encoder encoder;
    const auto [mean, deviation] = encoder(td::ones({3, 8}));
    CHECK((mean.sizes() == td::Shape{3, 2} && deviation.sizes() == td::Shape{3, 2}));
  }
  const td::Tensor images = td::randn({6, 784}, td::gpu(0)), labels = td::tensor({0, 1, 2, 3, 4, 5}).to(td::gpu(0));
  const std::vector<std::pair<td::Tensor, td::Tensor>> batches(2, {images, labels});
  {
    Net net;
    net.to(td::try_gpu());
    const td::Tensor y = net(images);
    CHECK(y.sizes() == td::Shape{6, 10});

    td::optim::Adam adam{net.parameters(), {.lr = 1e-3}};
    for (const auto& [images, labels] : batches) {
      adam.zero_grad();
      td::cross_entropy(net(images), labels).backward();
      td::nn::utils::clip_grad_norm_(net.parameters(), 1.0);
      adam.step();
    }
    CHECK(td::cross_entropy(net(images), labels).item<float>() < td::cross_entropy(y, labels).item<float>());

    const float before = td::cross_entropy(net(images), labels).item<float>();
    td::optim::LBFGS lbfgs(net.parameters(), {.line_search_fn = "strong_wolfe"});
    lbfgs.step([&] {
      lbfgs.zero_grad();
      td::Tensor loss = td::cross_entropy(net(images), labels);
      loss.backward();
      return loss;
    });
    CHECK(td::cross_entropy(net(images), labels).item<float>() < before);
  }
  {
    const td::Tensor x = td::randn({2, 7, 6}), sequence = td::randn({7, 2, 6});
    td::nn::GRU gru(6, 5, {.num_layers = 2, .batch_first = true});
    const auto [output, h_n] = gru(x);  // x (N, T, 6), output (N, T, 5), h_n (2, N, 5)
    td::nn::LSTM lstm(6, 5);
    const auto [outputs, state] = lstm(sequence);  // state.h and state.c
    CHECK((output.sizes() == td::Shape{2, 7, 5} && h_n.sizes() == td::Shape{2, 2, 5}));
    CHECK((outputs.sizes() == td::Shape{7, 2, 5} && state.c.sizes() == td::Shape{1, 2, 5}));

    td::nn::Sequential net(td::nn::Linear(6, 5));
    auto handle =
        net.at(0).register_forward_hook([](td::nn::Module&, const td::Tensor&, td::Tensor& y) { std::cout << y.sizes() << "\n"; });
    gru.register_forward_hook(
        [](td::nn::Module&, std::span<const td::Tensor>, std::span<td::Tensor> outputs) { outputs[1] = outputs[1] * 2; });
    handle.remove();
    CHECK(td::equal(gru(x).h_n, h_n * 2));
    const td::nn::Summary summary = td::nn::summary(gru, [&] { (void)gru(x); });
    CHECK((summary.layers[0].outputs == std::vector<td::Shape>{{2, 7, 5}, {2, 2, 5}}));
  }
  {
    const td::Tensor tokens = td::randn({2, 7, 64});
    td::nn::MultiheadAttention attention(64, 4, {.batch_first = true});
    const auto [attended, weights] = attention(tokens, tokens, tokens);  // (N, T, 64) and (N, T, T)
    td::nn::TransformerEncoder encoder(td::nn::TransformerEncoderLayer(64, 4, {.batch_first = true, .norm_first = true}), 2);
    const auto mask = td::nn::Transformer::generate_square_subsequent_mask(7);
    const td::Tensor encoded = encoder(tokens, {.src_mask = mask, .is_causal = true});
    CHECK((attended.sizes() == td::Shape{2, 7, 64} && weights.sizes() == td::Shape{2, 7, 7} && encoded.sizes() == tokens.sizes()));
  }
  {
    Net net;
    net.to(td::gpu(0));
    td::parallel::DataParallel parallel(net, td::try_all_gpus());
    td::optim::SGD sgd{net.parameters(), {.lr = 0.1}};

    const float before = td::cross_entropy(net(images), labels).item<float>();
    sgd.zero_grad();
    td::cross_entropy(parallel(images), labels).backward();
    sgd.step();
    CHECK(td::cross_entropy(net(images), labels).item<float>() < before);
  }
  return finish();
}
