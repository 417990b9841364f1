// bench/peer/work_models.py has the same networks for PyTorch, name by name: what changes here changes there.
#include "bench/work_cases.h"

#include <memory>

#include "bench/work_models.h"
#include "models/models.h"
#include "tandem.h"

namespace tandem::bench {
namespace {

// So small that thousands of steps on one batch leave every number in its normal range: subnormals would be what is measured.
constexpr double kRate = 1e-6;

using Loss = std::function<Tensor(const Tensor& output, const Tensor& target)>;

/// The network's products for the batch, from a run of one sample.
template <class Net>
int64_t forward_flops(Net& net, const Tensor& x) {
  return 2 * x.size(0) * nn::summary(net, x.narrow(0, 0, 1)).multiply_adds;
}

template <class Net>
io::TensorMap weights_and_input(const Net& net, const Tensor& x) {
  io::TensorMap tensors = {{"x", x}};
  for (const auto& [name, value] : net.state_dict()) tensors.emplace("model." + name, value.clone());  // a step changes them
  return tensors;
}

template <class Net>
Work training(Net given, const Tensor& x, const Tensor& target, const Loss& loss,
              const std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>& make_optimizer, Device device) {
  struct State {
    Net net;
    Tensor x, target;
    Loss loss;
    std::unique_ptr<optim::Optimizer> optimizer;
  };
  const auto state = std::make_shared<State>(State{std::move(given), x.to(device), target.to(device), loss, nullptr});
  state->net.to(device);
  state->optimizer = make_optimizer(state->net.parameters());
  return {[state] {
            state->optimizer->zero_grad();
            state->loss(state->net(state->x), state->target).backward();
            state->optimizer->step();
          },
          [state] {
            io::TensorMap tensors = weights_and_input(state->net, state->x);
            const Tensor output = state->net(state->x), error = state->loss(output, state->target);
            error.backward();
            Tensor squares = zeros({}, error.device());
            for (const Tensor& parameter : state->net.parameters()) squares = squares + parameter.grad().square().sum();
            tensors.insert({{"target", state->target}, {"output", output}, {"loss", error}, {"gradient_norm", sqrt(squares)}});
            return tensors;
          },
          [state] { return 3 * forward_flops(state->net, state->x); }};
}

/// `compiled`: by td::compile.
template <class Net>
Work inference(Net given, const Tensor& x, Device device, bool compiled) {
  struct State {
    Net net;
    Tensor x;
    Compiled fast;
    State(Net n, Tensor in) : net(std::move(n)), x(std::move(in)), fast(compile(net)) {}
  };
  const auto state = std::make_shared<State>(std::move(given), x.to(device));
  state->net.to(device);
  state->net.eval();
  const auto output = [state, compiled] {
    const NoGradGuard no_grad;
    return compiled ? state->fast(state->x) : state->net(state->x);
  };
  return {[output] { (void)output(); },
          [state, output] {
            io::TensorMap tensors = weights_and_input(state->net, state->x);
            tensors.emplace("output", output());
            return tensors;
          },
          [state] { return forward_flops(state->net, state->x); }};
}

Tensor classes_loss(const Tensor& output, const Tensor& target) { return cross_entropy(output, target); }

std::unique_ptr<optim::Optimizer> sgd(std::vector<Tensor> parameters) {
  return std::make_unique<optim::SGD>(std::move(parameters), optim::SGDOptions{.lr = kRate});
}
std::unique_ptr<optim::Optimizer> sgd_with_momentum(std::vector<Tensor> parameters) {
  return std::make_unique<optim::SGD>(std::move(parameters), optim::SGDOptions{.lr = kRate, .momentum = 0.9});
}
std::unique_ptr<optim::Optimizer> adam(std::vector<Tensor> parameters) {
  return std::make_unique<optim::Adam>(std::move(parameters), optim::AdamOptions{.lr = kRate});
}
std::unique_ptr<optim::Optimizer> adamw(std::vector<Tensor> parameters) {
  return std::make_unique<optim::AdamW>(std::move(parameters), optim::AdamWOptions{.lr = kRate});
}

Work cnn_step(int64_t batch, Device device) {
  nn::Sequential net = models::cifar_cnn();
  net.apply([](nn::Module& module) {  // so that outputs can be compared
    if (auto* dropout = dynamic_cast<nn::Dropout*>(&module)) dropout->p = 0;
  });
  return training(std::move(net), randn({batch, 3, 32, 32}), randint(0, 10, {batch}), classes_loss, sgd_with_momentum, device);
}

constexpr int64_t kWords = 30000, kWordsInText = 150;
Work gru_step(int64_t batch, Device device) {
  return training(models::TextGru({.vocabulary = kWords}), randint(0, kWords, {batch, kWordsInText}), randint(0, 2, {batch}), classes_loss,
                  adam, device);
}
Work gru_infer(int64_t batch, Device device) {
  return inference(models::TextGru({.vocabulary = kWords}), randint(0, kWords, {batch, kWordsInText}), device, true);
}

Work resnet50_infer(int64_t batch, Device device) {
  return inference(models::resnet50({.num_classes = 0}), rand({batch, 3, 224, 224}), device, true);
}

Work densenet121_step(int64_t batch, Device device) {
  const auto loss = [](const Tensor& output, const Tensor& target) { return binary_cross_entropy(sigmoid(output), target); };
  return training(models::densenet121(14), rand({batch, 3, 224, 224}), randint(0, 2, {batch, 14}).to(kFloat32), loss, adam, device);
}

Work lenet_step(int64_t batch, Device device) {
  return training(models::d2l_lenet(), rand({batch, 1, 28, 28}), randint(0, 10, {batch}), classes_loss, sgd, device);
}

Work resnet18_step(int64_t batch, Device device) {
  return training(models::d2l_resnet18(), rand({batch, 1, 28, 28}), randint(0, 10, {batch}), classes_loss, sgd, device);
}

Work transformer_step(int64_t batch, Device device) {
  constexpr int64_t kTokens = 128, kWidth = 256;
  return training(
      nn::TransformerEncoderLayer(kWidth, 8, {.dim_feedforward = 1024, .dropout = 0, .batch_first = true}), randn({batch, kTokens, kWidth}),
      randn({batch, kTokens, kWidth}), [](const Tensor& output, const Tensor& target) { return mse_loss(output, target); }, adam, device);
}

Work gpt_step(int64_t batch, Device device) {
  const GptOptions options;
  return training(
      Gpt(options), randint(0, options.vocabulary, {batch, options.length}), randint(0, options.vocabulary, {batch, options.length}),
      [](const Tensor& output, const Tensor& target) { return cross_entropy(output.flatten(0, 1), target.flatten()); }, adamw, device);
}

Work unet_step(int64_t batch, Device device) {
  return training(
      UNet(), rand({batch, 3, 128, 128}), randint(0, 2, {batch, 1, 128, 128}).to(kFloat32),
      [](const Tensor& output, const Tensor& target) { return binary_cross_entropy_with_logits(output, target); }, adam, device);
}

Work mlp_step(int64_t batch, Device device) {
  return training(models::mlp({784, 256, 128, 10}), randn({batch, 784}), randint(0, 10, {batch}), classes_loss, adam, device);
}
Work mlp_one(int64_t batch, Device device) { return inference(models::mlp({784, 256, 128, 10}), randn({batch, 784}), device, true); }

constexpr WorkCase kCases[] = {
    {"cnn_step", "CNN for CIFAR-10, SGD step, batch 64", 64, cnn_step},
    {"gru_step", "GRU on texts of 150 words, Adam step, batch 64", 64, gru_step},
    {"gru_infer", "GRU on texts of 150 words, inference, batch 64", 64, gru_infer},
    {"resnet50_infer", "ResNet-50 without its last layer, inference, batch 4", 4, resnet50_infer},
    {"densenet121_step", "DenseNet-121, 14 outputs, Adam step, batch 4", 4, densenet121_step},
    {"lenet_step", "LeNet of Dive into Deep Learning, SGD step, batch 256", 256, lenet_step},
    {"resnet18_step", "ResNet-18 of Dive into Deep Learning, 28x28, SGD step, batch 16", 16, resnet18_step},
    {"transformer_step", "transformer layer, 128 tokens, width 256, Adam step, batch 8", 8, transformer_step},
    {"gpt_step", "nanoGPT, 6 layers, 256 tokens, width 384, AdamW step, batch 4", 4, gpt_step},
    {"unet_step", "U-Net, 16 to 128 channels, 128x128, Adam step, batch 2", 2, unet_step},
    {"mlp_step", "MLP 784-256-128-10, Adam step, batch 128", 128, mlp_step},
    {"mlp_one", "MLP 784-256-128-10, inference, one picture", 1, mlp_one},
};

}  // namespace

std::span<const WorkCase> work_cases() { return kCases; }

}  // namespace tandem::bench
