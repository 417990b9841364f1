#include "generator.h"

#include "base/splitmix.h"

namespace fuzz {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() { return tandem::detail::splitmix64(state_); }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

struct Weight {
  Kind kind;
  int weight;
};
constexpr Weight kWeights[] = {{Kind::Make, 6},      {Kind::Leaf, 6},       {Kind::Blob, 1},          {Kind::BlobUse, 2},
                               {Kind::AliasUse, 2},  {Kind::Unary, 12},     {Kind::Chain, 8},         {Kind::Binary, 14},
                               {Kind::View, 10},     {Kind::Reduce, 8},     {Kind::InPlace, 8},       {Kind::Copy, 7},
                               {Kind::Broadcast, 3}, {Kind::Alias, 2},      {Kind::Free, 7},          {Kind::SaveLoad, 1},
                               {Kind::Print, 3},     {Kind::Detach, 2},     {Kind::DetachInPlace, 2}, {Kind::RetainGrad, 4},
                               {Kind::Hook, 7},      {Kind::RemoveHook, 2}, {Kind::Backward, 14},     {Kind::BackwardBlob, 2},
                               {Kind::Grad, 8},      {Kind::TakeGrad, 4},   {Kind::ClearGrad, 2},     {Kind::Step, 3},
                               {Kind::Shared, 2},    {Kind::Parallel, 1},   {Kind::Synchronize, 1}};

class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options)
      : random_(seed), options_(options), machine_({.folder = options.folder}, options.operations) {
    for (const Weight& weight : kWeights)
      if (has(static_cast<int>(weight.kind))) total_ += weight.weight;
  }

  Generated run() {
    Generated made;
    for (int tries = 0; static_cast<int>(made.program.size()) < options_.operations && tries < options_.operations * 40; ++tries) {
      choose_segment();
      Operation o = choose();
      o.number = static_cast<int>(made.program.size()) + 1;
      if (!machine_.allowed(o)) continue;
      machine_.step(o);
      made.program.push_back(o);
      --left_;
      ++since_;
    }
    made.expected = machine_.finish();
    return made;
  }

 private:
  [[nodiscard]] bool has(int bit) const { return options_.features >> bit & 1; }
  [[nodiscard]] bool streams() const { return has(kKinds); }
  [[nodiscard]] bool threads() const { return has(kKinds + 1); }
  [[nodiscard]] bool graphs() const { return has(kKinds + 2); }
  [[nodiscard]] bool temporaries() const { return has(kKinds + 3); }

  void choose_segment() {
    if (left_ > 0) return;
    in_threads_ = false;
    capture_ = 0;
    left_ = 1;
    if (since_ < 12) return;
    if (threads() && random_.chance(4)) {
      in_threads_ = true;
      left_ = 6 + random_.below(16);
      since_ = 0;
    } else if (graphs() && random_.chance(4)) {
      capture_ = ++captures_;
      left_ = 3 + random_.below(9);
      capture_device_ = random_.below(3);
      since_ = 0;
    }
  }

  Operation choose() {
    Operation o;
    int at = random_.below(total_);
    for (const Weight& weight : kWeights) {
      if (!has(static_cast<int>(weight.kind))) continue;
      if ((at -= weight.weight) >= 0) continue;
      o.kind = weight.kind;
      break;
    }
    if (in_threads_) o.thread = 1 + random_.below(2);
    if (streams() && random_.chance(25) && !capture_) stream_ = random_.below(kStreams);
    o.stream = in_threads_ && streams() ? random_.below(kStreams) : stream_;
    o.capture = capture_;
    o.out = slot_of(o.thread);
    o.out2 = slot_of(o.thread);
    o.p = random_.below(64);
    o.q = random_.below(64);
    o.device = random_.chance(15) ? -1 : random_.chance(60) ? 0 : random_.below(3);
    if (capture_) o.device = capture_device_;
    o.event = random_.chance(30);
    o.no_grad = random_.chance(6);
    const auto one_of = [&](auto... kinds) { return ((o.kind == kinds) || ...); };
    if (!one_of(Kind::Make, Kind::Leaf, Kind::Blob, Kind::BlobUse, Kind::Parallel, Kind::Synchronize, Kind::Shared))
      o.a = defined(o.thread);
    if (one_of(Kind::Binary, Kind::Broadcast, Kind::Grad) || (o.kind == Kind::InPlace && change(o.p).takes) ||
        (o.kind == Kind::BackwardBlob && random_.chance(60)))
      o.b = defined(o.thread);
    if (one_of(Kind::InPlace, Kind::Free, Kind::Print, Kind::DetachInPlace, Kind::RetainGrad, Kind::Hook, Kind::RemoveHook, Kind::Backward,
               Kind::BackwardBlob, Kind::ClearGrad, Kind::Step, Kind::Parallel, Kind::Shared, Kind::Synchronize))
      o.out = -1;
    if (o.kind == Kind::Shared) o.p = 1 + random_.below(in_threads_ ? 200 : 3);
    if (o.kind == Kind::InPlace && !o.no_grad) o.no_grad = random_.chance(25);
    if (one_of(Kind::Unary, Kind::Chain, Kind::Binary)) o.temporary = temporaries() && random_.chance(25);
    if (o.kind == Kind::Grad) o.q = random_.chance(60) ? defined(o.thread) : -1;
    if (!(o.kind == Kind::Broadcast || (o.kind == Kind::Grad && o.q >= 0))) o.out2 = -1;
    if (o.kind == Kind::Copy) o.p = random_.below(3);
    if (one_of(Kind::Hook, Kind::RemoveHook)) o.q = random_.below(options_.operations) + 1;
    return o;
  }

  int slot_of(int thread) { return thread == 0 ? random_.below(random_.chance(80) ? 10 : kSlots) : 7 + 3 * thread + random_.below(3); }
  /// One that holds a tensor, if a few tries find one.
  int defined(int thread) {
    int slot = 0;
    for (int i = 0; i < 8; ++i) {
      slot = thread == 0 ? random_.below(kSlots) : random_.chance(60) ? slot_of(thread) : random_.below(10);
      if (machine_.tensor(slot).defined()) break;
    }
    return slot;
  }

  Random random_;
  GeneratorOptions options_;
  Machine machine_;
  int total_ = 0, stream_ = 0, left_ = 0, since_ = 0, capture_ = 0, captures_ = 0, capture_device_ = 0;
  bool in_threads_ = false;
};

}  // namespace

Generated generate(uint64_t seed, const GeneratorOptions& options) { return Generator(seed, options).run(); }

Generated resolve(const Program& program, int gpus, const std::string& folder, std::ostream* text, const std::string& ends) {
  int highest = 0;
  for (const Operation& o : program) highest = std::max(highest, o.number);
  Machine machine({.gpus = gpus, .folder = folder, .text = text, .ends = ends}, highest);
  Generated made;
  for (const Operation& o : program) {
    if (!machine.allowed(o)) continue;
    machine.step(o);
    made.program.push_back(o);
  }
  made.expected = machine.finish();
  return made;
}

}  // namespace fuzz
