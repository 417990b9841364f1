// Values, handles and places: what each operation does plainly, really, and as text.
#include <cstring>

#include "machine.h"

namespace fuzz {

void Machine::execute(Lane& lane, const Operation& o) {
  use(lane, o.stream);
  try {
    perform(lane, o);
  } catch (const std::exception& error) {
    if (!again_) note(o.number, 9, "threw");
    say(lane, "// the last one throws");
    const std::lock_guard lock(mutex_);
    outcome_.errors[o.number] = error.what();
  }
  if (!real()) after_pass();
}

void Machine::put(const Operation& o, int out, td::Tensor tensor, int number, bool view, int on) {
  if (view && !memory(number).viewed) memory(number).viewed = true;
  slot(out) = {.tensor = std::move(tensor), .memory = number, .device = on, .origin = origin(o), .view = view};
}

void Machine::put_new(Lane& lane, const Operation& o, int out, td::Tensor tensor, int on, int part) {
  const int number = kThreads + kBlobs + 2 * o.number + part;
  Memory& m = memory(number);
  m = {};
  m.made_on = lane.capturing ? -1 : lane.stream;
  m.owner = o.thread;
  m.origin = origin(o);
  after_write(lane, o, m, on);
  put(o, out, std::move(tensor), number, false, on);
}

void Machine::perform(Lane& lane, const Operation& o) {
  std::optional<td::NoGradGuard> quiet;
  if (o.no_grad) quiet.emplace();
  const std::string open = o.no_grad ? "{ td::NoGradGuard quiet; " : "", close = o.no_grad ? " }" : "";
  const std::string out = name(o.out), a = name(o.a), b = name(o.b);
  // What main makes other names or histories of is no thread's any more.
  for (const int i : {o.a, o.b, o.kind == Kind::Grad ? o.q : -1})
    if (i >= 0 && o.thread == 0 && segment_ != Segment::Threads &&
        (o.kind == Kind::View || o.kind == Kind::Reduce || o.kind == Kind::Alias || o.kind == Kind::Detach ||
         slot(i).tensor.requires_grad()))
      memory(slot(i).memory).owner = 0;

  switch (o.kind) {
    case Kind::Make:
    case Kind::Leaf: {
      const bool leaf = o.kind == Kind::Leaf;
      say(lane, out, " = pattern(", text_of(sizes(o.p)), ", ", o.q, ", ", device_text(o.device), ");");
      td::Tensor made = pattern(sizes(o.p), o.q, device(o.device));
      if (leaf) {
        say(lane, out, ".requires_grad_();");
        made.requires_grad_();
      }
      return put_new(lane, o, o.out, std::move(made), o.device);
    }
    case Kind::Blob:
    case Kind::BlobUse: {
      const td::Shape& shape = sizes(o.p);
      const auto block = static_cast<size_t>(o.q % kBlobs);
      const std::string blob = "td::from_blob(block[" + std::to_string(block) + "], " + text_of(shape) + ")";
      const Unary& f = unary(o.q);
      say(lane, out, " = ", o.kind == Kind::Blob ? blob : f.text(blob), ";");
      td::Tensor made;
      if (!real()) made = blob_tensors_[block].narrow(0, 0, shape.numel()).view(shape).detach();
      if (o.kind == Kind::Blob) {
        if (real()) made = td::from_blob(blobs_[block].data(), shape);
        return put(o, o.out, std::move(made), kThreads + static_cast<int>(block), true, -1);
      }
      return put_new(lane, o, o.out, real() ? f.call(td::from_blob(blobs_[block].data(), shape)) : f.call(made), -1);
    }
    case Kind::AliasUse: {
      before_read(lane, o.a);
      const Unary& f = unary(o.p);
      say(lane, out, " = ", f.text("td::from_blob(" + a + ".data_ptr(), " + a + ".sizes(), {.device = " + a + ".device()})"), ";");
      const td::Tensor& from = slot(o.a).tensor;
      td::Tensor made = real() ? f.call(td::from_blob(from.data_ptr(), from.sizes(), {.device = from.device()})) : f.call(from.detach());
      return put_new(lane, o, o.out, std::move(made), slot(o.a).device);
    }
    case Kind::Unary:
    case Kind::Chain: {
      before_read(lane, o.a);
      const Unary &first = unary(o.p), &second = unary(o.q);
      const std::string inner = first.text(o.temporary ? "std::move(" + a + ")" : a);
      const int on = slot(o.a).device;
      say(lane, open, out, " = ", o.kind == Kind::Unary ? inner : second.text("(" + inner + ")"), ";", close);
      td::Tensor made;
      if (!real()) {
        made = first.call(std::as_const(slot(o.a).tensor));
        if (o.kind == Kind::Chain) made = second.call(std::as_const(made));
      } else if (o.temporary) {
        made = first.call(std::move(slot(o.a).tensor));
        if (o.kind == Kind::Chain) made = second.call(std::exchange(made, td::Tensor()));
      } else {
        made = o.kind == Kind::Unary ? first.call(slot(o.a).tensor) : second.call(first.call(slot(o.a).tensor));
      }
      if (o.temporary && o.a != o.out) {
        slot(o.a) = {};
        say(lane, a, " = td::Tensor();");
      }
      return put_new(lane, o, o.out, std::move(made), on);
    }
    case Kind::Binary: {
      before_read(lane, o.a);
      if (o.b != o.a) before_read(lane, o.b);
      const Binary& f = binary(o.p);
      const int on = slot(o.a).device;
      say(lane, open, out, " = ", f.text(o.temporary ? "std::move(" + a + ")" : a, b), ";", close);
      td::Tensor made = o.temporary && real() ? f.call(std::move(slot(o.a).tensor), slot(o.b).tensor)
                                              : f.call(std::as_const(slot(o.a).tensor), slot(o.b).tensor);
      if (o.temporary && o.a != o.out) {
        slot(o.a) = {};
        say(lane, a, " = td::Tensor();");
      }
      return put_new(lane, o, o.out, std::move(made), on);
    }
    case Kind::View:
    case Kind::Detach: {
      std::string text = ".detach()";
      const Slot from = slot(o.a);
      td::Tensor made = o.kind == Kind::Detach ? from.tensor.detach() : view_of(from.tensor, o.p, o.q, text);
      say(lane, open, out, " = ", a, text, ";", close);
      if (o.no_grad) memory(from.memory).quiet = true;
      return put(o, o.out, std::move(made), from.memory, true, from.device);
    }
    case Kind::Reduce: {
      before_read(lane, o.a);
      std::string text;
      const Slot from = slot(o.a);
      td::Tensor made = reduction_of(from.tensor, o.p, text);
      say(lane, open, out, " = ", a, text, ";", close);
      if (made.is_same(from.tensor)) {  // contiguous() of what is so
        slot(o.out) = from;
        return;
      }
      return put_new(lane, o, o.out, std::move(made), from.device);
    }
    case Kind::InPlace: {
      const Change& f = change(o.p);
      if (f.takes) before_read(lane, o.b);
      before_write(lane, o.a);
      say(lane, open, f.text(a, b), ";", close);
      f.call(slot(o.a).tensor, f.takes ? slot(o.b).tensor : td::Tensor());
      after_write(lane, o, memory(slot(o.a).memory), slot(o.a).device);
      if (!real()) renew_retained(slot(o.a).tensor);
      return;
    }
    case Kind::Copy: {
      before_read(lane, o.a);
      const std::string to = device_text(o.device);
      const td::Tensor& from = slot(o.a).tensor;
      td::Tensor made;
      if (o.p == 1) {
        say(lane, out, " = ", a, ".detach().pin_memory().to(", to, ", {.non_blocking = true, .copy = true});");
        made = on_gpus() ? from.detach().pin_memory().to(device(o.device), {.non_blocking = true, .copy = true}) : from.detach().clone();
      } else if (o.p == 2) {
        say(lane, out, " = td::empty(", a, ".sizes(), ", to, ");");
        say(lane, out, ".copy_(", a, ");");
        made = td::empty(from.sizes(), device(o.device));
        made.copy_(from);
      } else {
        say(lane, out, " = ", a, ".to(", to, ", {.copy = true});");
        made = from.to(device(o.device), {.copy = true});
      }
      return put_new(lane, o, o.out, std::move(made), o.device);
    }
    case Kind::Broadcast: {
      before_read(lane, o.a);
      before_read(lane, o.b);
      const td::Tensor first = slot(o.a).tensor, second = slot(o.b).tensor;
      const std::string to = device_text(o.device);
      const bool apart = setting_.gpus > 0 && device_text(slot(o.a).device) != to;
      if (apart) {
        say(lane, "{");
        say(lane, "  auto parcel = td::parallel::broadcast_coalesced({", a, ", ", b, "}, {", to, "})[0];");
        say(lane, "  ", out, " = parcel[0], ", name(o.out2), " = parcel[1];");
        say(lane, "}");
      } else {
        say(lane, out, " = ", a, ".to(", to, ", {.copy = true}), ", name(o.out2), " = ", b, ".to(", to, ", {.copy = true});");
      }
      std::vector<td::Tensor> made;
      if (apart && real()) made = td::parallel::broadcast_coalesced({first, second}, {device(o.device)})[0];
      else made = {first.to(device(o.device), {.copy = true}), second.to(device(o.device), {.copy = true})};
      put_new(lane, o, o.out, std::move(made[0]), o.device);
      return put_new(lane, o, o.out2, std::move(made[1]), o.device, 1);
    }
    case Kind::Alias: {
      say(lane, out, " = ", a, ";");
      const Slot from = slot(o.a);
      slot(o.out) = from;
      return;
    }
    case Kind::Free:
      say(lane, a, " = td::Tensor();");
      slot(o.a) = {};
      return;
    case Kind::SaveLoad: {
      before_read(lane, o.a);
      const std::string path = setting_.folder + "/" + std::to_string(o.thread) + ".safetensors", to = device_text(o.device);
      say(lane, "td::io::save_safetensors(\"", o.thread, ".safetensors\", {{\"x\", ", a, "}});");
      say(lane, out, " = td::io::load_safetensors(\"", o.thread, ".safetensors\", ", to, ")[\"x\"];");
      td::Tensor made;
      if (real()) {
        td::io::save_safetensors(path, {{"x", slot(o.a).tensor}});
        made = td::io::load_safetensors(path, device(o.device))["x"];
      } else {
        made = slot(o.a).tensor.detach().clone().contiguous();
      }
      return put_new(lane, o, o.out, std::move(made), o.device);
    }
    case Kind::Print:
      before_read(lane, o.a);
      say(lane, "show(", a, ");");
      return show(o.number, 0, slot(o.a).tensor);
    case Kind::Synchronize:
      if (setting_.gpus == 0) return;
      say(lane, "td::cuda::synchronize(", o.q % setting_.gpus, ");");
      if (on_gpus()) td::cuda::synchronize(o.q % setting_.gpus);
      return;
    default: return perform_gradients(lane, o);
  }
}

}  // namespace fuzz
