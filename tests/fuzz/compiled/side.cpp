#include "side.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "base/error.h"
#include "nn/walk.h"

namespace fuzz {

using td::Tensor;
using Kind = Step::Kind;

Side::Side(uint64_t seed, bool compiled) : compiled_(compiled) {
  Draw draw(seed);
  form_ = {draw.between(2, 6), draw.chance(2) ? 0 : draw.between(3, 6)};
  td::manual_seed(draw.seed());
  network_ = std::make_unique<Block>(make_network(draw, form_));
  compile();
}

std::vector<Tensor*> Side::fields(bool parameters, bool buffers) {
  std::vector<Tensor*> found;
  td::nn::detail::walk(*network_, false, [&](const td::nn::detail::Field& field) {
    if (field.is_module() || !field.tensor->defined()) return;
    if (field.is_buffer ? buffers : parameters) found.push_back(field.tensor);
  });
  return found;
}

std::vector<Block*> Side::blocks() {
  std::vector<Block*> found;
  for (const auto& [name, module] : network_->named_modules())
    if (auto* block = dynamic_cast<Block*>(module)) found.push_back(block);
  return found;
}

std::vector<std::pair<std::string, Tensor>> Side::state() {
  std::vector<std::pair<std::string, Tensor>> all;
  td::nn::detail::walk(*network_, true, [&](const td::nn::detail::Field& field) {
    if (field.is_module() || !field.tensor->defined()) return;
    all.emplace_back(field.name, field.tensor->detach());
    if (!field.is_buffer && field.tensor->is_leaf()) all.emplace_back(std::string(field.name) + ".grad", field.tensor->grad());
  });
  return all;
}

void Side::repair() {
  const auto all = fields(true, true);
  const td::NoGradGuard quiet;
  for (Tensor* const tensor : all) {
    const bool is_parameter = tensor->is_floating_point() && tensor->requires_grad();
    Tensor value = tensor->detach().cpu();
    if (value.is_floating_point()) value = value.to(td::kFloat32).nan_to_num(0, 1, -1).clamp(-2, 2);
    *tensor = value.clone();
    if (is_parameter) tensor->requires_grad_();
  }
  optimizer_.reset();
  waiting_.clear();
  kept_.clear();
  averages_.clear();
  for (Tensor* const tensor : fields(false, true))
    if (tensor->is_floating_point() && tensor->dim() == 1) tensor->abs_();  // variances
  remove_hooks();
}

void Side::remove_hooks() {
  for (td::nn::HookHandle& hook : hooks_) hook.remove();
  for (const auto& [tensor, number] : gradient_hooks_) tensor.remove_hook(number);
  hooks_.clear();
  gradient_hooks_.clear();
}

Tensor Side::input(Draw& draw) {
  td::Device device = td::cpu();
  td::DType dtype = td::kFloat32;
  if (const auto all = fields(true, true); !all.empty()) {
    device = all[0]->device();
    for (const Tensor* const tensor : all)
      if (tensor->is_floating_point()) dtype = tensor->dtype();
  }
  const int64_t n = draw.between(1, 4);
  td::Shape sizes{n, form_.features};
  if (form_.side > 0) sizes = {n, form_.features, form_.side, form_.side};
  const auto made = [&](const td::Shape& of) { return td::randn(of).to(device, dtype); };
  Tensor x;
  switch (draw.below(6)) {
    case 0:
      x = form_.side > 0 ? made({n, form_.side, form_.side, form_.features}).permute({0, 3, 1, 2}) : made({form_.features, n}).t();
      break;
    case 1: {
      td::Shape more = sizes;
      more[0] += 2;
      x = made(more).narrow(0, 1, n);
      break;
    }
    default: x = made(sizes);
  }
  if (draw.chance(40)) {
    Tensor first = x;
    while (first.dim() > 0) first = first.select(0, 0);
    first.fill_(draw.chance(2) ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
  }
  return draw.chance(2) ? x.requires_grad_() : x;
}

Given Side::forward(Draw& draw, bool quiet) {
  Given given;
  given.input = input(draw);
  td::manual_seed(draw.seed());  // of dropout
  const bool casts = draw.chance(25), elsewhere = draw.chance(25);
  const auto call = [&] {
    try {
      const td::SetGradGuard recording(!quiet);
      const auto scope = td::autocast(td::cpu(), {.enabled = casts});
      given.result = fast_ ? (*fast_)(given.input) : (*network_)(given.input);
    } catch (const td::Error& error) {
      given.error = error.what();
    }
  };
  if (elsewhere) std::thread(call).join();
  else call();
  line_ += td::str(" ", given.input.dtype(), " ", given.input.sizes(), given.input.requires_grad() ? " with a gradient" : "",
                   casts ? ", autocast" : "", elsewhere ? ", another thread" : "");
  recorded_ = given.error.empty() && given.result.requires_grad();
  if (fast_ && given.error.empty()) line_ += fast_->why().empty() ? ", in steps" : ", by itself as " + fast_->why();
  return given;
}

namespace {

Tensor gradient_for(const Tensor& y) {
  return (td::arange(static_cast<double>(y.numel())) * 0.37 + 0.5).sin().reshape(y.sizes()).to(y.device(), y.dtype());
}

}  // namespace

std::vector<Tensor> Side::step(const Step& step) {
  Draw draw(step.seed);
  error_.clear();
  recorded_ = false;
  line_ = name_of(step.kind);
  td::manual_seed(draw.seed());
  std::vector<Tensor> shown;
  try {
    switch (step.kind) {
      case Kind::Call:
      case Kind::CallQuietly: {
        const Given given = forward(draw, step.kind == Kind::CallQuietly);
        error_ = given.error;
        if (!error_.empty()) break;
        shown.push_back(given.result.detach().clone());
        if (given.result.requires_grad()) {
          given.result.backward(gradient_for(given.result));
          shown.push_back(given.input.grad());
        }
        if (draw.chance(4)) {
          const td::NoGradGuard quiet;
          given.result.zero_();  // the caller's own
        }
        break;
      }
      case Kind::Forward: {
        Given given = forward(draw, false);
        error_ = given.error;
        if (!error_.empty()) break;
        shown.push_back(given.result.detach().clone());
        if (given.result.requires_grad()) waiting_.push_back(std::move(given));
        break;
      }
      case Kind::Backward: {
        if (waiting_.empty()) break;
        const Given given = std::move(waiting_.front());
        waiting_.pop_front();
        std::vector<Tensor> of;
        if (given.input.requires_grad()) of.push_back(given.input);
        for (const Tensor* const parameter : fields(true, false))
          if (parameter->requires_grad()) of.push_back(*parameter);
        if (!of.empty()) shown = td::grad({given.result}, of, {.grad_outputs = {gradient_for(given.result)}, .allow_unused = true});
        break;
      }
      default: change(step, draw);
    }
  } catch (const td::Error& error) {
    error_ = error.what();
  }
  return shown;
}

}  // namespace fuzz
