// Which operations mean something at a place of a program, and are correct there: asked when a program is made, and again for every part
// of it that is tried while it is made smaller.
#include "machine.h"

namespace fuzz {

bool Machine::readable(const Operation& o, int i) const {
  if (i < 0 || i >= kSlots || !slot(i).tensor.defined()) return false;
  if (o.thread && owner_of(i) != 0 && owner_of(i) != o.thread) return false;
  // Another thread's backward may be adding to it.
  return !o.thread || slot(i).memory >= kThreads || slot(i).memory == o.thread;
}

/// An operation on slot i may be recorded: its history, if any, was made by this thread or graph, and so the order of the walk is known.
bool Machine::records_rightly(const Operation& o, int i) const {
  const Slot& s = slot(i);
  if (o.no_grad || !s.tensor.requires_grad()) return true;
  if (s.tensor.is_leaf()) return o.thread == 0 || memory(s.memory).owner == o.thread;
  return s.origin == origin(o);
}

bool Machine::own(const Operation& o, int i) const { return o.thread == 0 || memory(slot(i).memory).owner == o.thread; }

bool Machine::allowed(const Operation& o) const {
  const auto fits = [&](int i) { return i >= 0 && i < kSlots && (o.thread == 0 || owner_of(i) == o.thread); };
  const auto recorded = [&](int i) { return readable(o, i) && records_rightly(o, i); };
  const auto tensor_of = [&](int i) -> const td::Tensor& { return slot(i).tensor; };
  const auto needs = [&](int i) { return tensor_of(i).requires_grad() && !o.no_grad; };
  const auto broadcasts = [&](const td::Tensor& from, const td::Tensor& to) {
    if (from.dim() > to.dim()) return false;
    for (int64_t i = 1; i <= from.dim(); ++i)
      if (from.size(-i) != to.size(-i) && from.size(-i) != 1) return false;
    return true;
  };
  if (o.capture) {
    switch (o.kind) {
      case Kind::Make:
      case Kind::Leaf:
      case Kind::Unary:
      case Kind::Chain:
      case Kind::Binary:
      case Kind::View:
      case Kind::Reduce:
      case Kind::InPlace:
      case Kind::Alias:
      case Kind::Free:
      case Kind::Detach:
      case Kind::Backward: break;
      default: return false;
    }
    if (o.device < 0 || o.thread != 0) return false;
    const bool begun = segment_ == Segment::Capture && segment_capture_ == o.capture;
    if (begun && !segment_operations_.empty() && (segment_operations_[0].device != o.device || segment_operations_[0].stream != o.stream))
      return false;
    for (const int i : {o.a, o.b})
      if (i >= 0 && (slot(i).device != o.device || (memory(slot(i).memory).hooked && slot(i).tensor.defined() && needs(i)))) return false;
  }
  switch (o.kind) {
    case Kind::Make:
    case Kind::Leaf: return fits(o.out);
    case Kind::Blob: return fits(o.out) && o.thread == 0 && sizes(o.p).numel() <= 200;
    case Kind::BlobUse: return fits(o.out) && sizes(o.p).numel() <= 200;
    case Kind::AliasUse: return fits(o.out) && readable(o, o.a) && tensor_of(o.a).is_contiguous();
    case Kind::Unary:
    case Kind::Chain: return fits(o.out) && recorded(o.a) && (!o.temporary || fits(o.a));
    case Kind::Binary:
      return fits(o.out) && recorded(o.a) && recorded(o.b) && (!o.temporary || (fits(o.a) && o.a != o.b)) &&
             slot(o.a).device == slot(o.b).device &&
             (broadcasts(tensor_of(o.a), tensor_of(o.b)) || broadcasts(tensor_of(o.b), tensor_of(o.a)));
    case Kind::View:
    case Kind::Reduce: return fits(o.out) && recorded(o.a);
    case Kind::Detach:
    case Kind::Alias: return fits(o.out) && readable(o, o.a);
    case Kind::Free: return fits(o.a) && tensor_of(o.a).defined();
    case Kind::InPlace: {
      if (!readable(o, o.a) || !own(o, o.a)) return false;
      const Memory& m = memory(slot(o.a).memory);
      if (m.quiet && !o.no_grad) return false;  // refused where a view was made without history
      if (m.fixed || (m.retained && (m.viewed || slot(o.a).view))) return false;
      const bool takes = change(o.p).takes;
      if (takes && (!recorded(o.b) || slot(o.a).device != slot(o.b).device || slot(o.a).memory == slot(o.b).memory ||
                    !broadcasts(tensor_of(o.b), tensor_of(o.a))))
        return false;
      return !(needs(o.a) || (takes && needs(o.b))) || (m.origin == origin(o) && recorded(o.a));
    }
    case Kind::Copy: return fits(o.out) && recorded(o.a) && (o.p != 1 || (slot(o.a).device < 0 && o.device >= 0));
    case Kind::Broadcast:
      // One node is the history of both: results are let go of where either is walked.
      for (const int i : {o.a, o.b})
        if (readable(o, i) && needs(i) && !tensor_of(i).is_leaf()) return false;
      return fits(o.out) && fits(o.out2) && o.out != o.out2 && recorded(o.a) && recorded(o.b) && o.device >= 0 &&
             slot(o.a).device == slot(o.b).device && slot(o.a).device != o.device;
    case Kind::SaveLoad: return fits(o.out) && readable(o, o.a);
    case Kind::Print: return readable(o, o.a);
    case Kind::DetachInPlace:
      return recorded(o.a) && own(o, o.a) && !slot(o.a).view && !memory(slot(o.a).memory).viewed && !memory(slot(o.a).memory).fixed &&
             !tensor_of(o.a).is_leaf();
    case Kind::RetainGrad:
      return recorded(o.a) && own(o, o.a) && tensor_of(o.a).requires_grad() && !tensor_of(o.a).is_leaf() &&
             !memory(slot(o.a).memory).retained && !memory(slot(o.a).memory).fixed;
    case Kind::Hook: {
      if (!recorded(o.a) || !own(o, o.a) || !tensor_of(o.a).requires_grad()) return false;
      if (o.p % 6 != 5) return true;
      return o.q >= 0 && o.q < o.number && hooks_[static_cast<size_t>(o.q)].target.is_same(tensor_of(o.a));
    }
    case Kind::RemoveHook:
      return o.thread == 0 && readable(o, o.a) && o.q >= 0 && o.q < o.number &&
             hooks_[static_cast<size_t>(o.q)].target.is_same(tensor_of(o.a));
    case Kind::Backward:
    case Kind::BackwardBlob:
    case Kind::Grad: {
      if (!readable(o, o.a) || !tensor_of(o.a).requires_grad() || tensor_of(o.a).is_leaf()) return false;
      const int made = slot(o.a).origin, here = origin(o);
      if (made != here && !(o.thread == 1 && made == 0) && !(o.thread == 0 && !o.capture && made > 0)) return false;
      if (o.kind == Kind::Backward) return true;
      if (o.thread) return false;
      if (o.kind == Kind::BackwardBlob) {
        if (o.b < 0) return slot(o.a).device < 0 && tensor_of(o.a).numel() <= 200;
        return readable(o, o.b) && slot(o.b).device == slot(o.a).device && tensor_of(o.b).is_contiguous() &&
               tensor_of(o.b).sizes() == tensor_of(o.a).sizes();
      }
      const auto input = [&](int i) { return recorded(i) && tensor_of(i).requires_grad(); };
      return made == here && fits(o.out) && input(o.b) && (o.q < 0 || (o.q < kSlots && input(o.q) && fits(o.out2) && o.out != o.out2));
    }
    case Kind::TakeGrad: return fits(o.out) && readable(o, o.a) && own(o, o.a) && gradient_of(tensor_of(o.a)).defined();
    case Kind::ClearGrad: return readable(o, o.a) && own(o, o.a);
    case Kind::Step: {
      if (!readable(o, o.a) || !own(o, o.a) || memory(slot(o.a).memory).fixed || memory(slot(o.a).memory).viewed) return false;
      const td::Tensor& x = tensor_of(o.a);
      return x.is_leaf() && x.requires_grad() && x.grad().defined();
    }
    case Kind::Shared: return o.p > 0;
    case Kind::Parallel: return o.thread == 0;
    case Kind::Synchronize: return true;
  }
  return false;
}

}  // namespace fuzz
