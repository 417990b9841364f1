#include "compile/trace.h"

#include <sys/mman.h>

#include <algorithm>

#include "autograd/autograd.h"
#include "base/error.h"
#include "kernels/missing.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"
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
    const ThreadGeneratorGuard numbers(0);  // what is drawn here is not missing elsewhere
    const Tensor y = module(x, site);
    if (y.defined()) result_ = y.detach();
  } catch (const runtime::Untraceable&) {
  }
  if (!why_.empty()) return false;
  if (find(result_) < 0) {
    why_ = "its result is not a new tensor";
    return false;
  }
  return keeps_nothing();
}

bool Trace::record(const std::function<void()>& forward, std::function<void(Call&)> met) {
  met_ = std::move(met);
  try {
    const NoGradGuard no_grad;
    const runtime::TracerGuard guard(this);
    const ThreadGeneratorGuard numbers(0);  // what is drawn here is not missing elsewhere
    forward();
  } catch (const runtime::Untraceable&) {
  }
  met_ = nullptr;
  return why_.empty();
}

bool Trace::record_with_gradients(nn::Module& module, const Tensor& x, const std::vector<Tensor>& wanted, Site site) {
  has_gradients_ = true;
  try {
    const EnableGradGuard recording;
    const runtime::TracerGuard guard(this);
    const ThreadGeneratorGuard numbers(0);  // what is drawn here is not missing elsewhere
    const Tensor y = module(x, site);
    if (find(y) < 0) {
      why_ = "its result is not a new tensor";
      return false;
    }
    if (!y.requires_grad()) {
      why_ = "its result does not depend on what wants a gradient";
      return false;
    }
    backward_from_ = calls_.size();
    output_gradient_ = empty(y.sizes(), {.dtype = y.dtype()}, site);
    result_ = y.detach();
    const auto first_block = static_cast<int>(blocks_.size());
    try {
      gradients_ = grad({y}, wanted, {.grad_outputs = {output_gradient_}, .allow_unused = true}, site);
    } catch (const Error& error) {  // the module's own backward says it better
      why_ = str("its backward cannot be learned: ", error.message());
      return false;
    }
    separate_gradients(first_block, site);
  } catch (const runtime::Untraceable&) {
  }
  return why_.empty() && keeps_nothing();
}

/// Copies the gradients that are something else besides, so that whoever gets one can keep it.
void Trace::separate_gradients(int first_block, Site site) {
  const NoGradGuard no_grad;
  std::vector<int> met;
  for (Tensor& gradient : gradients_) {
    if (!gradient.defined() || gradient.numel() == 0) continue;
    const int block = find(gradient);
    const bool own = block >= first_block && gradient.is_contiguous() &&
                     blocks_[static_cast<size_t>(block)]->bytes == static_cast<size_t>(gradient.nbytes()) &&
                     std::find(met.begin(), met.end(), block) == met.end();
    if (!own) gradient = gradient.is_contiguous() ? gradient.clone(site) : gradient.contiguous(site);
    met.push_back(find(gradient));
  }
}

bool Trace::keeps_nothing() {
  if (result_.impl().storage->use_count() > 1) why_ = "it keeps the tensor that it gives";
  const auto read = [&](size_t block) {
    const auto in = [&](const Tensor& x) { return x.defined() && find(x) == static_cast<int>(block); };
    return in(result_) || in(output_gradient_) || std::any_of(gradients_.begin(), gradients_.end(), in);
  };
  for (size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i]->in_use && !read(i)) why_ = "it keeps a tensor that forward has made";
  return why_.empty();
}

int Trace::find(const Tensor& x) const { return x.defined() && x.is_cpu() ? find(x.impl().storage->data()) : -1; }

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
          held, has_gradients_};
}

void Trace::wrote(const void* data) {
  if (const int block = find(data); block >= 0) blocks_[static_cast<size_t>(block)]->host_written = true;
}

void Trace::refuse(std::string_view op) {
  refused_at_ = {tandem::detail::statement_line.file, tandem::detail::statement_line.line};
  why_ = str('[', op, "] needs values, or is not the same in each call");
  throw runtime::Untraceable();
}

}  // namespace tandem::compiling
