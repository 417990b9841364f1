// The virtual GPU's kernels are the CPU's, queued: one template copies the arguments into the stream's queue and calls the CPU's entry
// there (or, asked to, a GPU's own kernel, walked on the host). It also says which memory a call reads and writes, which is how work after
// an error is skipped and races can be found.
#include "kernels/table.h"

#include <dlfcn.h>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "kernels/missing.h"
#include "runtime/beside_library.h"
#include "runtime/virtual/stream.h"

namespace tandem::kernels {
namespace {

using runtime::virtual_gpu::Range;

/// An argument as a queue keeps it.
template <class T>
struct Kept {
  T value;
  explicit Kept(const T& v) : value(v) {}
  [[nodiscard]] const T& get() const { return value; }
};
template <class T>
struct Kept<Span<T>> {
  std::vector<T> values;
  explicit Kept(const Span<T>& span) : values(span.begin(), span.end()) {}
  [[nodiscard]] Span<T> get() const { return {values.data(), static_cast<int64_t>(values.size())}; }
};

/// The memory one call touches.
struct Touched {
  std::vector<Range> writes, reads;

  /// From the first to the last element of a strided array.
  static Range span(const void* data, DType dtype, int ndim, const int64_t* sizes, const int64_t* strides) {
    int64_t first = 0, last = 0, count = 1;
    for (int i = 0; i < ndim; ++i) {
      (strides[i] < 0 ? first : last) += (sizes[i] - 1) * strides[i];
      count *= sizes[i];
    }
    const auto element = static_cast<int64_t>(size_of(dtype));
    return {static_cast<const char*>(data) + first * element, static_cast<size_t>((last - first + 1) * element), count == last - first + 1};
  }
  static Range span(const View& view) { return span(view.data, view.dtype, view.ndim, view.sizes, view.strides); }

  void add(const Out& out) {
    if (out.data && out.numel()) writes.push_back(span(out));
  }
  void add(const View& in) {
    if (in.data && in.numel()) reads.push_back(span(in));
  }
  void add(const Pointwise& call) {
    if (call.numel == 0) return;
    const auto element_span = [&](const void* data, DType dtype, const int64_t* strides) {
      if (call.contiguous) return Range{data, static_cast<size_t>(call.numel) * size_of(dtype), true};
      return span(data, dtype, call.ndim, call.sizes, strides);
    };
    writes.push_back(element_span(call.out, call.out_dtype, call.out_strides));
    for (int i = 0; i < call.inputs; ++i)
      if (call.in[i].data) reads.push_back(element_span(call.in[i].data, call.in[i].dtype, call.in[i].strides));
  }
  void add(const Span<View>& views) {
    for (const View& view : views) add(view);
  }
  void add(const SgdParameter& p) { add_step(p.numel, p.dtype, {p.parameter, p.momentum}, p.gradient); }
  void add(const StepParameter& p) { add_step(p.numel, p.dtype, {p.parameter, p.state[0], p.state[1], p.state[2]}, p.gradient); }
  void add(const AdamParameter& p) { add_step(p.numel, p.dtype, {p.parameter, p.mean, p.square, p.max_square}, p.gradient); }
  template <class T>
  requires std::is_same_v<T, SgdParameter> || std::is_same_v<T, AdamParameter> || std::is_same_v<T, StepParameter>
  void add(const Span<T>& parameters) {
    for (const T& parameter : parameters) add(parameter);
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>
  void add(const T&) {}
  void add(const Value&) {}
  void add(const Epilogue&) {}
  void add(const Windows&) {}
  void add(const Pooling&) {}
  void add(const Span<int64_t>&) {}
  void add(const Span<Out>& outs) {
    for (const Out& out : outs) add(out);
  }
  void add(const GridSample&) {}
  void add(const Attention&) {}
  void add(const RecurrentLayers&) {}
  void add(const SgdSettings&) {}
  void add(const AdamSettings&) {}

 private:
  void add_step(int64_t numel, DType dtype, std::initializer_list<void*> changed, void* gradient) {
    const size_t bytes = static_cast<size_t>(numel) * size_of(dtype);
    if (bytes == 0) return;
    for (void* data : changed) {
      if (!data) continue;
      writes.push_back({data, bytes, true});
      reads.push_back({data, bytes, true});
    }
    reads.push_back({gradient, bytes, true});
  }
};

/// The kernels that streams call: the CPU's; or, by TANDEM_VIRTUAL_KERNELS, those of kernels/cuda: our own in libtandem_walked.so (cuda),
/// or with them the calls of NVIDIA's libraries in libtandem_emulated.so (libraries).
const Table& choose() {
  constexpr const char* kVariable = "TANDEM_VIRTUAL_KERNELS";
  const auto kind = environment(kVariable);
  if (!kind || *kind == "cpu") return cpu_table();
  const bool libraries = *kind == "libraries";
  if (*kind != "cuda" && !libraries) fail(kVariable, " is '", *kind, "': it takes cpu, cuda or libraries");
  const std::string path = runtime::beside_library(libraries ? "libtandem_emulated.so" : "libtandem_walked.so");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto entry = library ? reinterpret_cast<const Table* (*)()>(dlsym(library, "tandem_walked_table")) : nullptr;
  if (!entry) {
    const char* error = dlerror();
    fail(kVariable, "=", *kind, " needs ", path, ", which is made with the tests", libraries ? " where the CUDA toolkit is" : "", ": ",
         error ? error : "it has no table");
  }
  return *entry();
}
const Table& executed() {
  static const Table& table = choose();
  return table;
}

/// Empty lists, kept by the calling thread for their memory. One for all entries: what a thread keeps is scarce where the library is opened
/// while a program runs (docs/base.md).
Touched& nothing_touched() {
  thread_local Touched kept;
  kept.writes.clear();
  kept.reads.clear();
  return kept;
}

template <auto Entry>
struct Queued;
template <class... Args, void (*Table::*Entry)(const Queue&, Args...)>
struct Queued<Entry> {
  static void call(const Queue& queue, Args... args) {
    Touched& touched = nothing_touched();
    (touched.add(args), ...);
    runtime::virtual_gpu::enqueue(
        queue,
        [kept = std::tuple<Kept<Args>...>(Kept<Args>(args)...)](const Queue& on_stream) {
          std::apply([&](const auto&... each) { (executed().*Entry)(on_stream, each.get()...); }, kept);
        },
        touched.writes, touched.reads);
  }
};

Table make() {
  Table table = executed();  // the workspace queries stay as they are: they do no work
  with_entries([&]<auto... Entries>() { ((table.*Entries = Queued<Entries>::call), ...); });
  return table;
}

}  // namespace

const Table& virtual_table() {
  static const Table table = make();
  return table;
}

}  // namespace tandem::kernels
