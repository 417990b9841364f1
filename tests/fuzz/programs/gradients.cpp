// Gradients: what the operations on histories do, and how hooks that change hooks and retained gradients are put in plainer words.
#include "machine.h"

namespace fuzz {
namespace {

enum HookKind { kShow, kDouble, kShowLater, kOnce, kRegister, kRemove, kHookKinds };

}  // namespace

void Machine::perform_gradients(Lane& lane, const Operation& o) {
  const std::string out = name(o.out), a = name(o.a);
  switch (o.kind) {
    case Kind::DetachInPlace:
      say(lane, a, ".detach_();");
      slot(o.a).tensor.detach_();
      if (memory(slot(o.a).memory).retained) memory(slot(o.a).memory).fixed = true;
      return;
    case Kind::RetainGrad:
      say(lane, a, ".retain_grad();");
      memory(slot(o.a).memory).retained = true;
      if (real()) slot(o.a).tensor.retain_grad();
      else retain(slot(o.a).tensor);
      return;
    case Kind::Hook:
      say(lane, hook_text(o));
      if (o.p % kHookKinds > kShowLater) memory(slot(o.a).memory).fixed = true;
      memory(slot(o.a).memory).hooked = true;
      return add_hook(o, slot(o.a).tensor);
    case Kind::RemoveHook: {
      HookEntry& hook = hooks_[static_cast<size_t>(o.q)];
      say(lane, a, ".remove_hook(hook_", o.q, ");");
      slot(o.a).tensor.remove_hook(hook.number);
      hook = {};
      return;
    }
    case Kind::Backward:
    case Kind::BackwardBlob: {
      before_read(lane, o.a);
      std::string seed_text;
      const td::Tensor root = slot(o.a).tensor;
      const bool retain_graph = o.p & 1;
      before_backward(lane);
      const std::string retain_text = std::string(", {.retain_graph = ") + (retain_graph ? "true" : "false") + "});";
      if (o.kind == Kind::BackwardBlob && real()) {
        if (o.b < 0) {
          say(lane, a, ".backward(td::from_blob(block[", o.q % kBlobs, "], ", a, ".sizes())", retain_text);
          root.backward(td::from_blob(blobs_[static_cast<size_t>(o.q % kBlobs)].data(), root.sizes()), {.retain_graph = retain_graph});
        } else {
          before_read(lane, o.b);
          const td::Tensor& b = slot(o.b).tensor;
          kept_.push_back(b);
          root.backward(td::from_blob(b.data_ptr(), b.sizes(), {.device = b.device()}), {.retain_graph = retain_graph});
        }
      } else {
        const td::Tensor seed = seed_for(lane, o, seed_text);
        say(lane, a, ".backward(", seed_text, retain_text);
        root.backward(seed, {.retain_graph = retain_graph});
      }
      after_backward(lane);
      return;
    }
    case Kind::Grad: {
      before_read(lane, o.a);
      std::string seed_text;
      const td::Tensor seed = seed_for(lane, o, seed_text);
      std::vector<td::Tensor> inputs{slot(o.b).tensor};
      std::string inputs_text = name(o.b);
      if (o.q >= 0) {
        inputs.push_back(slot(o.q).tensor);
        inputs_text += ", " + name(o.q);
      }
      const bool retain_graph = o.p & 1, create_graph = o.p & 2;
      say(lane, "{");
      say(lane, "  auto gradients = td::grad({", a, "}, {", inputs_text, "}, {.grad_outputs = {", seed_text,
          "}, .retain_graph = ", retain_graph || create_graph ? "true" : "false", ", .create_graph = ", create_graph ? "true" : "false",
          ", .allow_unused = true});");
      say(lane, "  ", out, " = gradients[0];");
      // The two may be one tensor where no copy between devices lies between them; a program that changes one must not depend on it.
      if (o.q >= 0) say(lane, "  ", name(o.out2), " = gradients[1].defined() ? gradients[1].clone() : td::Tensor();");
      say(lane, "}");
      before_backward(lane);
      auto made = td::grad(
          {slot(o.a).tensor}, inputs,
          {.grad_outputs = {seed}, .retain_graph = retain_graph || create_graph, .create_graph = create_graph, .allow_unused = true});
      const int on = slot(o.b).device, second = o.q >= 0 ? slot(o.q).device : -1;
      put_new(lane, o, o.out, made[0], on);
      if (o.q >= 0) put_new(lane, o, o.out2, made[1].defined() ? made[1].clone() : td::Tensor(), second, 1);
      return;
    }
    case Kind::TakeGrad: {
      const Slot of = slot(o.a);
      before_gradient_read(lane, slot(o.a));
      const bool retained = memory(of.memory).retained || !of.tensor.is_leaf();
      say(lane, out, " = ", a, ".grad()", retained ? ".clone();" : ";");
      const td::Tensor gradient = gradient_of(of.tensor);
      if (retained) return put_new(lane, o, o.out, gradient.clone(), of.device);
      return put(o, o.out, gradient, lane.thread, true, of.device);
    }
    case Kind::ClearGrad: {
      say(lane, a, ".set_grad(td::Tensor());");
      const auto found = retained_.find(&slot(o.a).tensor.impl());
      if (found != retained_.end()) found->second.sum = td::Tensor();
      slot(o.a).tensor.set_grad(td::Tensor());
      return;
    }
    case Kind::Step: {
      before_gradient_read(lane, slot(o.a));
      before_write(lane, o.a);
      say(lane, o.p % 3 == 0   ? "td::optim::SGD({" + a + "}, {.lr = 0.1}).step();"
                : o.p % 3 == 1 ? "td::optim::SGD({" + a + "}, {.lr = 0.1, .momentum = 0.5, .weight_decay = 0.25}).step();"
                               : "td::optim::Adam({" + a + "}, {.lr = 0.1}).step();");
      step_optimizer(o, slot(o.a).tensor);
      return after_write(lane, o, memory(slot(o.a).memory), slot(o.a).device);
    }
    case Kind::Shared: {
      before_backward(lane);
      const td::Tensor leaf = shared_[static_cast<size_t>(o.q % kShared)];
      say(lane, "for (int i = 0; i < ", o.p, "; ++i) (shared[", o.q % kShared, "] * (i % 5 + 1)).sum().backward();");
      for (int i = 0; i < o.p; ++i) (leaf * (i % 5 + 1)).sum().backward();
      return after_backward(lane);
    }
    case Kind::Parallel: return run_parallel(lane, o);
    default: return;
  }
}

/// What backward starts from: halves in odd programs, ones in others.
td::Tensor Machine::seed_for(Lane& lane, const Operation& o, std::string& text) {
  const td::Tensor& x = slot(o.a).tensor;
  if (o.kind == Kind::BackwardBlob) {
    if (o.b < 0) {
      text = "td::from_blob(block[" + std::to_string(o.q % kBlobs) + "], " + name(o.a) + ".sizes())";
      return blob_tensors_[static_cast<size_t>(o.q % kBlobs)].narrow(0, 0, x.numel()).view(x.sizes()).detach().clone();
    }
    before_read(lane, o.b);
    kept_.push_back(slot(o.b).tensor);
    text = "td::from_blob(" + name(o.b) + ".data_ptr(), " + name(o.b) + ".sizes(), {.device = " + name(o.b) + ".device()})";
    return slot(o.b).tensor.detach().clone().contiguous();
  }
  text = "td::full_like(" + name(o.a) + (o.p & 4 ? ", 0.5)" : ", 1)");
  return td::full_like(x.detach(), o.p & 4 ? 0.5 : 1.0);
}

std::string Machine::hook_text(const Operation& o) const {
  const std::string x = name(o.a), number = "hook_" + std::to_string(o.number);
  std::string body;
  switch (o.p % kHookKinds) {
    case kShow: body = "show(g); return td::Tensor();"; break;
    case kDouble: body = "return g * 2;"; break;
    case kShowLater: body = "later(g.clone()); return td::Tensor();"; break;
    case kOnce:
      return "static int64_t " + number + " = " + x + ".register_hook([x = " + x + "](const td::Tensor& g) { x.remove_hook(" + number +
             "); return g * 0.5; });";
    case kRegister:
      body = "if (!std::exchange(done, true)) x.register_hook([](const td::Tensor& h) { return h * 0.5; }); return td::Tensor();";
      return "int64_t " + number + " = " + x + ".register_hook([x = " + x + ", done = false](const td::Tensor& g) mutable { " + body +
             " });";
    default:
      return "int64_t " + number + " = " + x + ".register_hook([x = " + x + ", victim = hook_" + std::to_string(o.q) +
             "](const td::Tensor& g) { x.remove_hook(victim); return td::Tensor(); });";
  }
  return "int64_t " + number + " = " + x + ".register_hook([](const td::Tensor& g) { " + body + " });";
}

void Machine::add_hook(const Operation& o, const td::Tensor& x) {
  HookEntry& entry = hooks_[static_cast<size_t>(o.number)];
  entry = {};
  if (o.p % kHookKinds > kShowLater) entry.target = x;
  entry.number = x.register_hook([this, o](const td::Tensor& gradient) { return call_hook(o, gradient); });
  if (!real()) renew_retained(x);
}

td::Tensor Machine::call_hook(const Operation& o, const td::Tensor& gradient) {
  HookEntry& entry = hooks_[static_cast<size_t>(o.number)];
  const bool first = !std::exchange(entry.done, true);
  switch (o.p % kHookKinds) {
    case kShow: show(o.number, 0, gradient); return {};
    case kDouble: return gradient * 2;
    case kShowLater: {
      const td::Tensor copy = gradient.detach().clone();
      if (gradient.is_cuda()) td::cuda::current_stream(gradient.device()).synchronize();
      show(o.number, 0, copy);
      return {};
    }
    case kOnce: {
      if (real()) {
        const td::Tensor target = entry.target;
        target.remove_hook(entry.number);
        return gradient * 0.5;
      }
      if (!first) return {};
      deferred_.emplace_back([this, &entry] {
        entry.target.remove_hook(entry.number);
        entry.target = td::Tensor();
      });
      return gradient * 0.5;
    }
    case kRegister: {
      if (!first) return {};
      const td::Tensor target = entry.target;
      const auto add = [this, target] {
        target.register_hook([](const td::Tensor& other) { return other * 0.5; });
        if (!real()) renew_retained(target);
      };
      if (real()) add();
      else deferred_.emplace_back(add);
      return {};
    }
    default: {
      HookEntry& victim = hooks_[static_cast<size_t>(o.q)];
      if (!first || !victim.target.defined()) return {};
      const auto remove = [&victim] {
        victim.target.remove_hook(victim.number);
        victim.target = td::Tensor();
      };
      if (real()) remove();
      else deferred_.emplace_back(remove);
      return {};
    }
  }
}

/// Plainly, a retained gradient is what a hook adds up that is registered anew whenever the tensor gets another history.
void Machine::retain(const td::Tensor& x) {
  Retained& retained = retained_[&x.impl()];
  retained.tensor = x;
  const int generation = ++retained.generation;
  x.register_hook([&retained, generation](const td::Tensor& gradient) -> td::Tensor {
    if (generation == retained.generation) retained.sum = retained.sum.defined() ? retained.sum + gradient : gradient.clone();
    return {};
  });
}

void Machine::renew_retained(const td::Tensor& x) {
  if (retained_.contains(&x.impl()) && x.requires_grad()) retain(x);
}

td::Tensor Machine::gradient_of(const td::Tensor& x) const {
  const auto found = retained_.find(&x.impl());
  return found == retained_.end() ? x.grad() : found->second.sum;
}

void Machine::after_pass() {
  auto deferred = std::exchange(deferred_, {});
  for (const auto& act : deferred) act();
}

void Machine::step_optimizer(const Operation& o, const td::Tensor& x) {
  if (o.p % 3 == 0) td::optim::SGD({x}, {.lr = 0.1}).step();
  else if (o.p % 3 == 1) td::optim::SGD({x}, {.lr = 0.1, .momentum = 0.5, .weight_decay = 0.25}).step();
  else td::optim::Adam({x}, {.lr = 0.1}).step();
}

/// A module with whole numbers only, so that the sums of its gradients are the same in any order.
void Machine::run_parallel(Lane& lane, const Operation& o) {
  const int replicas = std::min(o.p % 3 + 1, std::max(1, setting_.gpus));
  say(lane, "train_in_parallel(", replicas, ", ", o.q, ");");
  td::nn::Linear linear(3, 2, {.device = device(0)});
  const auto whole = [&](const td::Shape& shape, int number) { return pattern(shape, number, device(0)) * 4; };
  {
    const td::NoGradGuard quiet;
    linear.weight.copy_(whole({2, 3}, o.q));
    linear.bias.copy_(whole({2}, o.q + 1));
  }
  const td::Tensor x = whole({5, 3}, o.q + 2), seed = whole({5, 2}, o.q + 3);
  td::Tensor y;
  if (on_gpus()) {
    std::vector<td::Device> devices;
    for (int i = 0; i < replicas; ++i) devices.push_back(device(i));
    td::parallel::DataParallel parallel(linear, devices);
    y = parallel(x);
  } else {
    y = linear(x);
  }
  y.backward(seed);
  show(o.number, 0, y);
  show(o.number, 1, linear.weight.grad());
  show(o.number, 2, linear.bias.grad());
}

}  // namespace fuzz
