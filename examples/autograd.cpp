// Gradients: of a small expression, of a layer, of gradients, and of an operation of one's own.
// As PyTorch's C++ example "autograd".
#include <tandem/tandem.h>

#include <iostream>

namespace td = tandem;

/// x W + b as one operation with its own gradient.
struct LinearFunction : td::autograd::Function<LinearFunction> {
  static td::Tensor forward(td::autograd::Context& ctx, const td::Tensor& x, const td::Tensor& weight, const td::Tensor& bias) {
    ctx.save_for_backward({x, weight});
    return td::matmul(x, weight) + bias;
  }
  static std::vector<td::Tensor> backward(td::autograd::Context& ctx, const std::vector<td::Tensor>& grads) {
    const auto saved = ctx.saved();
    return {td::matmul(grads[0], saved[1].t()), td::matmul(saved[0].t(), grads[0]), grads[0].sum(0)};
  }
};

void basics() {
  std::cout << "====== a small expression ======\n";
  const auto x = td::ones({2, 2}, {.requires_grad = true});
  const auto y = x + 2;
  const auto z = y * y * 3;
  const auto out = z.mean();
  std::cout << y << "\n" << z << "\n" << out << "\n";
  out.backward();
  std::cout << "d out / d x:\n" << x.grad() << "\n";
}

void one_layer() {
  std::cout << "====== a layer and a loss ======\n";
  td::nn::Linear model(4, 3);
  const auto loss = td::mse_loss(model(td::randn({3, 4})), td::randn({3, 3}));
  loss.backward();
  std::cout << "gradient of the bias: " << model.bias.grad() << "\n";
}

void gradient_penalty() {
  std::cout << "====== a gradient of a gradient ======\n";
  td::nn::Linear model(4, 3);
  const auto input = td::randn({3, 4}, {.requires_grad = true});
  const auto loss = td::mse_loss(model(input), td::randn({3, 3}));
  const auto gradient = td::grad({loss}, {input}, {.create_graph = true})[0];
  const auto penalty = td::pow(td::norm(gradient, 2, {1}) - 1, 2).mean();
  (loss + penalty * 10).backward();
  std::cout << "gradient of the input:\n" << input.grad() << "\n";
}

void own_operation() {
  std::cout << "====== an operation of one's own ======\n";
  const auto x = td::randn({2, 3}, {.requires_grad = true}), weight = td::randn({3, 4}, {.requires_grad = true});
  const auto bias = td::zeros({4}, {.requires_grad = true});
  LinearFunction::apply(x, weight, bias).sum().backward();
  std::cout << "gradient of the weight:\n" << weight.grad() << "\n";
}

int main() {
  td::manual_seed(1);
  basics();
  one_layer();
  gradient_penalty();
  own_operation();
}
