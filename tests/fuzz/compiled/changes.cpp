// What a program does to a network between its calls.
#include <limits>
#include <typeinfo>

#include "base/error.h"
#include "side.h"

namespace fuzz {

using td::Tensor;
using Kind = Step::Kind;

void Side::change(const Step& step, Draw& draw) {
  switch (step.kind) {
    case Kind::ChangeInPlace:
    case Kind::Load:
    case Kind::Swap:
    case Kind::Optimize:
    case Kind::ZeroGrad:
    case Kind::NotFinite: return change_values(step, draw);
    case Kind::Assign:
    case Kind::Prune:
    case Kind::PutBack:
    case Kind::OtherElements:
    case Kind::Tie:
    case Kind::Compute: return change_tensors(step, draw);
    case Kind::Move:
    case Kind::Convert:
    case Kind::Train:
    case Kind::Freeze:
    case Kind::Replace:
    case Kind::Share:
    case Kind::Clone: return change_form(step, draw);
    default: return change_surroundings(step, draw);
  }
}

void Side::change_values(const Step& step, Draw& draw) {
  const auto all = fields(true, draw.chance(3));
  if (all.empty()) return;
  const size_t number = static_cast<size_t>(draw.below(static_cast<int64_t>(all.size())));
  const Tensor& one = *all[number];
  const td::NoGradGuard quiet;
  switch (step.kind) {
    case Kind::ChangeInPlace: {
      line_ += td::str(" tensor ", number);
      const Tensor target = draw.chance(2) ? one.detach() : one;
      if (!target.is_floating_point()) target.add_(1);
      else if (draw.chance(2)) target.mul_(0.9);
      else if (target.dim() > 0) target.select(0, 0).add_(0.1);
      else target.copy_(target * 0.5 + 0.1);
      break;
    }
    case Kind::Load: {
      td::StateDict state;
      for (const auto& [name, tensor] : network_->state_dict()) {
        const Tensor value = tensor.is_floating_point() ? td::randn_like(tensor) * 0.3 : tensor + 1;
        state[name] = name.find("running_var") == std::string::npos ? value : value.abs() + 0.5;
      }
      const bool assigns = draw.chance(2);
      if (assigns) line_ += " with assign";
      (void)network_->load_state_dict(state, {.assign = assigns});
      break;
    }
    case Kind::Swap: {
      const auto parameters = fields(true, false);
      if (averages_.size() != parameters.size()) {
        averages_.clear();
        for (const Tensor* const parameter : parameters) averages_.push_back(parameter->detach() * 0.8);
      }
      const bool handles = draw.chance(2);
      line_ += handles ? " of tensors" : " of values";
      for (size_t i = 0; i < parameters.size(); ++i) {
        if (handles) {
          const Tensor before = parameters[i]->detach();
          const bool wanted = parameters[i]->requires_grad();
          *parameters[i] = averages_[i].detach().requires_grad_(wanted);
          averages_[i] = before;
        } else {
          const Tensor before = parameters[i]->detach().clone();
          parameters[i]->copy_(averages_[i]);
          averages_[i] = before;
        }
      }
      break;
    }
    case Kind::Optimize: {
      if (!optimizer_ || draw.chance(4)) {
        const auto parameters = network_->parameters();
        if (parameters.empty()) return;
        if (draw.chance(2)) optimizer_ = td::optim::make<td::optim::SGD>(parameters, {.lr = 0.02, .momentum = 0.9});
        else optimizer_ = td::optim::make<td::optim::Adam>(parameters, {.lr = 0.01});
      }
      optimizer_->step();
      break;
    }
    case Kind::ZeroGrad: network_->zero_grad(!draw.chance(3)); break;
    case Kind::NotFinite: {
      if (!one.is_floating_point() || one.numel() == 0) break;
      Tensor first = one.detach();
      while (first.dim() > 0) first = first.select(0, 0);
      const bool back = draw.chance(2);
      line_ += td::str(" tensor ", number, back ? " back" : "");
      first.fill_(back ? 0.25 : std::numeric_limits<double>::infinity());
      break;
    }
    default: break;
  }
}

void Side::change_tensors(const Step& step, Draw& draw) {
  const auto all = fields(true, step.kind == Kind::Assign && draw.chance(3));
  if (all.empty()) return;
  const size_t number = static_cast<size_t>(draw.below(static_cast<int64_t>(all.size())));
  Tensor& one = *all[number];
  const bool wanted = one.is_floating_point() && one.requires_grad();
  line_ += td::str(" tensor ", number);
  const auto put = [&](const Tensor& value) { one = wanted ? value.detach().requires_grad_() : value.detach(); };
  switch (step.kind) {
    case Kind::Assign: {
      // Several times, so that memory is given out again.
      for (int64_t times = draw.between(1, 3); times > 0; --times) {
        const Tensor value = one.is_floating_point() ? one.detach() * 0.5 : one.detach() + 1;
        if (draw.chance(2)) one = Tensor();  // its memory goes before the other is asked for
        put(draw.chance(2) ? value.clone() : value);
      }
      break;
    }
    case Kind::Prune:
      kept_.emplace_back(number, one);
      put(one.detach() * (one.detach() > 0).to(one.dtype()));
      break;
    case Kind::PutBack: {
      if (kept_.empty()) break;
      const auto [of, tensor] = kept_.back();
      kept_.pop_back();
      if (of < all.size() && all[of]->sizes() == tensor.sizes()) *all[of] = tensor;
      break;
    }
    case Kind::OtherElements: {
      if (one.dim() == 2 && one.size(0) == one.size(1) && draw.chance(2)) {
        put(one.detach().t());
      } else if (one.dim() > 0) {
        td::Shape more = one.sizes();
        more[0] += 3;
        const Tensor whole = (td::randn(more) * 0.3).to(one.device(), one.dtype());
        put(whole.narrow(0, draw.between(0, 3), one.size(0)));
      }
      break;
    }
    case Kind::Tie: {
      for (Tensor* const other : all) {
        if (other == &one || other->sizes() != one.sizes() || draw.chance(3)) continue;
        if (draw.chance(2)) *other = one;
        else put(other->detach());
        break;
      }
      break;
    }
    case Kind::Compute:
      if (draw.chance(2)) one = one * 1;
      else put(one.detach());
      break;
    default: break;
  }
}

void Side::change_form(const Step& step, Draw& draw) {
  const auto modules = network_->named_modules();
  const auto& [name, part] = modules[static_cast<size_t>(draw.below(static_cast<int64_t>(modules.size())))];
  switch (step.kind) {
    case Kind::Move: {
      const bool gpu = draw.chance(2);
      line_ += gpu ? " to cuda:0" : " to the CPU";
      waiting_.clear();
      if (gpu) network_->to("cuda:0");
      else network_->to("cpu");
      break;
    }
    case Kind::Convert: {
      const td::DType dtypes[] = {td::kFloat32, td::kFloat32, td::kFloat64, td::kBFloat16, td::kFloat16};
      const td::DType dtype = dtypes[draw.below(5)];
      line_ += td::str(" to ", dtype);
      network_->to(dtype);
      break;
    }
    case Kind::Train: {
      const bool mode = draw.chance(2);
      td::nn::ModuleBase& of = draw.chance(3) ? *part : *network_;
      line_ += td::str(mode ? " on " : " off ", &of == network_.get() ? "all" : name);
      of.train(mode);
      break;
    }
    case Kind::Freeze: {
      const bool wanted = draw.chance(2);
      line_ += wanted ? " off" : " on";
      if (draw.chance(3)) {
        network_->requires_grad_(wanted);
      } else if (const auto all = fields(true, false); !all.empty()) {
        all[static_cast<size_t>(draw.below(static_cast<int64_t>(all.size())))]->requires_grad_(wanted);
      }
      break;
    }
    case Kind::Replace: {
      const auto all = blocks();
      Block& block = *all[static_cast<size_t>(draw.below(static_cast<int64_t>(all.size())))];
      if (block.parts.empty()) break;
      td::nn::AnyModule& old = block.parts[static_cast<size_t>(draw.below(static_cast<int64_t>(block.parts.size())))];
      const std::string before = old.base().name();
      const bool mode = old.base().training();
      // What keeps any form takes the place of what keeps its form; others get a copy, or one of their own parameters.
      const bool keeps =
          old.base().parameters().empty() && !dynamic_cast<Block*>(&old.base()) && before != "MaxPool2d" && before != "Sequential";
      if (keeps) old = make_activation(draw);
      else old = td::nn::AnyModule(old);
      old.base().train(mode);
      line_ += " " + before + " by " + old.base().name();
      break;
    }
    case Kind::Share:
      waiting_.clear();
      if (fast_) fast_->reset();  // it may hold a tensor over the same memory that was replaced since
      network_->share_memory();
      break;
    case Kind::Clone: {
      auto other = std::make_unique<Block>(td::nn::clone(*network_));
      remove_hooks();
      optimizer_.reset();
      fast_.reset();
      network_ = std::move(other);
      compile();
      break;
    }
    default: break;
  }
}

void Side::change_surroundings(const Step& step, Draw& draw) {
  switch (step.kind) {
    case Kind::Hook: {
      if (draw.chance(2)) {
        line_ += ": all away";
        return remove_hooks();
      }
      const auto all = fields(true, false);
      if (draw.chance(2) && !all.empty()) {
        const Tensor& one = *all[static_cast<size_t>(draw.below(static_cast<int64_t>(all.size())))];
        if (!one.requires_grad()) return;
        line_ += " of a parameter";
        gradient_hooks_.emplace_back(one, one.register_hook([](const Tensor& gradient) { return gradient * 2; }));
        return;
      }
      const auto modules = network_->named_modules();
      const auto& [name, part] = modules[static_cast<size_t>(draw.below(static_cast<int64_t>(modules.size())))];
      line_ += " of " + name;
      hooks_.push_back(part->register_forward_hook([](td::nn::ModuleBase&, const Tensor&, Tensor& output) { output = output * 1.5; }));
      break;
    }
    case Kind::Churn: {
      std::vector<Tensor> memory;
      for (const Tensor* const tensor : fields(true, true)) memory.push_back(td::randn(tensor->sizes()));
      break;
    }
    case Kind::Threads: td::set_num_threads(static_cast<int>(draw.between(1, 3))); break;
    case Kind::CompileAnew: {
      const int64_t how = draw.below(3);
      if (!fast_) break;
      if (how == 0) compile();
      else if (how == 1) fast_->reset();
      else fast_ = std::make_unique<td::Compiled>(*fast_);
      break;
    }
    default: break;
  }
}

}  // namespace fuzz
