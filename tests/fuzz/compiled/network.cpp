#include "network.h"

#include <string>

namespace fuzz {

using td::Tensor;
using td::nn::AnyModule;

void Block::fields(td::nn::Fields& f) {
  for (size_t i = 0; i < parts.size(); ++i) f(std::to_string(i), parts[i].base());
  for (size_t i = 0; i < own.size(); ++i) f("own" + std::to_string(i), own[i]);
  for (size_t i = 0; i < held.size(); ++i) f.buffer("held" + std::to_string(i), held[i]);
}

Tensor Block::forward(const Tensor& x) {
  switch (kind) {
    case Kind::Chain: {
      Tensor y = x;
      for (AnyModule& part : parts) y = (*part)(y);
      return y;
    }
    case Kind::Residual: return x + (*parts[0])(x);
    case Kind::Joined: return td::cat({(*parts[0])(x), x}, 1);
    case Kind::Scaled: return x * own[0] + own[0];
    case Kind::Product: return td::matmul(x, td::exp(own[0] * 0.1) * 0.2);
    case Kind::Masked: return td::matmul(x, own[0] * held[0]);
    case Kind::Twice: return (*parts[0])((*parts[0])(x));
    case Kind::Counted: {
      if (training()) {
        const td::NoGradGuard quiet;
        held[0].add_(x.detach().mean());
      }
      return x * 0.9 + held[0] * 0.01;
    }
    case Kind::Softened: return td::softmax(x, 1) + x;
  }
  return x;
}

AnyModule make_activation(Draw& draw) {
  switch (draw.below(8)) {
    case 0: return td::nn::ReLU();
    case 1: return td::nn::Tanh();
    case 2: return td::nn::LeakyReLU(0.1 * static_cast<double>(draw.between(1, 5)));
    case 3: return td::nn::Sigmoid();
    case 4: return td::nn::SiLU();
    case 5: return td::nn::ELU(0.5 * static_cast<double>(draw.between(1, 3)));
    case 6: return td::nn::GELU(draw.chance(2) ? "tanh" : "none");
    default: return td::nn::Softplus();
  }
}

namespace {

using Kind = Block::Kind;

Tensor parameter(const td::Shape& sizes) { return (td::randn(sizes) * 0.5).requires_grad_(); }

Block block(Kind kind, std::vector<AnyModule> parts, std::vector<Tensor> own = {}, std::vector<Tensor> held = {}) {
  Block made;
  made.kind = kind;
  made.parts = std::move(parts);
  made.own = std::move(own);
  made.held = std::move(held);
  return made;
}

/// A layer that keeps the form.
AnyModule keeper(Draw& draw, const Form& form, int depth) {
  const int64_t f = form.features;
  if (form.side == 0) {
    switch (draw.below(depth > 0 ? 13 : 10)) {
      case 0: return td::nn::Linear(f, f, {.bias = !draw.chance(3)});
      case 1: return td::nn::LayerNorm({f});
      case 2: return td::nn::BatchNorm1d(f);
      case 3: return block(Kind::Scaled, {}, {parameter({f})});
      case 4: return block(Kind::Product, {}, {parameter({f, f})});
      case 5: return block(Kind::Masked, {}, {parameter({f, f})}, {(td::rand({f, f}) > 0.3).to(td::kFloat32)});
      case 6: return block(draw.chance(2) ? Kind::Softened : Kind::Counted, {}, {}, {td::zeros({})});
      case 7: return draw.chance(4) ? AnyModule(td::nn::Dropout(0.3)) : make_activation(draw);
      case 8: return td::nn::RMSNorm({f});
      case 9: {
        td::nn::Sequential pair(td::nn::Linear(f, f));
        if (draw.chance(2)) pair.push_back(td::nn::ReLU());
        else pair.push_back(td::nn::GELU("tanh"));
        return pair;
      }
      case 10: return block(Kind::Residual, {keeper(draw, form, depth - 1)});
      case 11: return block(Kind::Twice, {keeper(draw, form, depth - 1)});
      default: return block(Kind::Chain, {keeper(draw, form, depth - 1), keeper(draw, form, depth - 1)});
    }
  }
  switch (draw.below(depth > 0 ? 13 : 11)) {
    case 0: return td::nn::Conv2d(f, f, 3, {.padding = 1, .bias = !draw.chance(3)});
    case 1: return td::nn::Conv2d(f, f, 1);
    case 2: return td::nn::BatchNorm2d(f);
    case 3: return td::nn::GroupNorm(1, f);
    case 4: return block(Kind::Scaled, {}, {parameter({f, 1, 1})});
    case 5: return td::nn::MaxPool2d(3, {.stride = 1, .padding = 1});
    case 6: return make_activation(draw);
    case 7: return td::nn::AvgPool2d(3, {.stride = 1, .padding = 1});
    case 8: return td::nn::Conv2d(f, f, 3, {.padding = 1, .groups = f});
    case 9: return td::nn::InstanceNorm2d(f, {.affine = true});
    case 10: return td::nn::ConvTranspose2d(f, f, 3, {.padding = 1});
    case 11: return block(Kind::Residual, {keeper(draw, form, depth - 1)});
    default: {
      td::nn::Sequential three(td::nn::Conv2d(f, f, 3, {.padding = 1, .bias = false}), td::nn::BatchNorm2d(f), td::nn::ReLU());
      return three;
    }
  }
}

/// A layer that changes the form.
AnyModule changer(Draw& draw, Form& form) {
  const int64_t f = form.features, to = draw.between(2, 12);
  if (form.side == 0) {
    form.features = to;
    if (!draw.chance(3)) return td::nn::Linear(f, to);
    form.features = 2 * f;
    return block(Kind::Joined, {td::nn::Linear(f, f)});
  }
  switch (draw.below(form.side >= 4 ? 4 : 2)) {
    case 0: form.features = to; return td::nn::Conv2d(f, to, 3, {.padding = 1});
    case 1: {
      form = {to, 0};
      td::nn::Sequential head(td::nn::AdaptiveAvgPool2d(1), td::nn::Flatten(), td::nn::Linear(f, to));
      return head;
    }
    case 2: form.side /= 2; return td::nn::MaxPool2d(2);
    default: form = {to, form.side / 2}; return td::nn::Conv2d(f, to, 2, {.stride = 2});
  }
}

}  // namespace

Block make_network(Draw& draw, Form form) {
  Block network;
  for (int64_t layers = draw.between(1, 5); layers > 0; --layers) {
    // Features must not grow for ever.
    network.parts.push_back(draw.chance(3) && form.features < 16 ? changer(draw, form) : keeper(draw, form, 2));
    if (draw.chance(3)) network.parts.push_back(make_activation(draw));
  }
  return network;
}

}  // namespace fuzz
