#include "compile/trace.h"

#include <sys/mman.h>

#include "autograd/autograd.h"
#include "base/error.h"
#include "kernels/missing.h"
#include "tensor/tensor_impl.h"

namespace tandem::compiling {
namespace {

using kernels::Table;

Trace& tracing() { return static_cast<Trace&>(*runtime::tracer()); }

/// Notes calls of one kernel.
template <auto Entry>
struct Noted;
template <class... Args, void (*Table::*Entry)(const Queue&, Args...)>
struct Noted<Entry> {
  static void call(const Queue& queue, Args... args) { tracing().add(std::make_unique<CallOf<Entry>>(queue, args...)); }
};

/// A kernel whose calls are not the same each time, or that changes what is the module's.
template <auto Entry>
struct Refused;
template <class... Args, void (*Table::*Entry)(const Queue&, Args...)>
struct Refused<Entry> {
  static void call(const Queue& queue, Args...) { tracing().refuse(queue.op); }
};

void note_attention(const Queue& queue, kernels::Out out, kernels::Out normalizer, kernels::View q, kernels::View k, kernels::View v,
                    kernels::View mask, kernels::Attention how, void* workspace) {
  if (how.dropout > 0) tracing().refuse(queue.op);
  Noted<&Table::attention>::call(queue, out, normalizer, q, k, v, mask, how, workspace);
}

template <class T>
constexpr bool kIsStep = false;
template <class T>
constexpr bool kIsStep<kernels::Span<T>> = kernels::OptimizerParameter<T>;
/// Whether a kernel is a step of an optimizer.
template <class... Args>
constexpr bool steps(void (*Table::*)(const Queue&, Args...)) {
  return (kIsStep<Args> || ...);
}

Table noting_table() {
  Table table = kernels::cpu_table();  // the workspace queries stay as they are
  kernels::for_each_entry([&]<auto Entry>(const char*) {
    if constexpr (steps(Entry)) table.*Entry = Refused<Entry>::call;
    else table.*Entry = Noted<Entry>::call;
  });
  table.random = Refused<&Table::random>::call;
  table.bernoulli = Refused<&Table::bernoulli>::call;
  table.randperm = Refused<&Table::randperm>::call;
  table.dropout = Refused<&Table::dropout>::call;
  table.clip = Refused<&Table::clip>::call;
  table.attention = note_attention;
  return table;
}

}  // namespace

// From the system, not from the cache: most of a trace's memory is never touched, and is to be no part of the process then.
Block::Block(size_t size) : data(nullptr), bytes(size) {
  void* const found = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) fail<OutOfMemoryError>("[compile] could not get ", size, " bytes of host memory");
  data = static_cast<char*>(found);
}
Block::~Block() { munmap(data, bytes); }

bool Trace::record(nn::Module& module, const Tensor& x, Site site) {
  try {
    const NoGradGuard no_grad;
    const runtime::TracerGuard guard(this);
    result_ = module(x, site);
  } catch (const runtime::Untraceable&) {
  }
  if (!why_.empty()) return false;
  const int out = result_.defined() && result_.is_cpu() ? find(result_.impl().storage->data()) : -1;
  if (out < 0) {
    why_ = "its result is not a new tensor";
    return false;
  }
  for (size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i]->in_use && static_cast<int>(i) != out) {
      why_ = "it keeps a tensor that forward has made";
      return false;
    }
  return true;
}

int Trace::find(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  const auto after = by_end_.upper_bound(at);
  return after != by_end_.end() && blocks_[static_cast<size_t>(after->second)]->data <= at ? after->second : -1;
}

const kernels::Table& Trace::kernels() {
  static const Table table = noting_table();
  return table;
}

runtime::Tracer::Memory Trace::allocate(size_t bytes) {
  std::unique_ptr<std::shared_ptr<Block>> own;
  try {
    own = std::make_unique<std::shared_ptr<Block>>(std::make_shared<Block>(bytes));
  } catch (const OutOfMemoryError&) {
    why_ = "there is not enough memory to learn it";
    throw runtime::Untraceable();
  }
  auto* const held = own.release();
  blocks_.push_back(*held);
  by_end_.emplace((*held)->data + bytes, static_cast<int>(blocks_.size()) - 1);
  return {(*held)->data,
          [](void* record) {
            auto* const block = static_cast<std::shared_ptr<Block>*>(record);
            (*block)->in_use = false;
            delete block;
          },
          held};
}

void Trace::wrote(const void* data) {
  if (const int block = find(data); block >= 0) blocks_[static_cast<size_t>(block)]->host_written = true;
}

void Trace::refuse(std::string_view op) {
  why_ = str('[', op, "] needs values, or is not the same in each call");
  throw runtime::Untraceable();
}

}  // namespace tandem::compiling
