// What makes the table of a virtual GPU: for each kernel of another table an entry that copies the arguments into the stream's queue, where
// that kernel is called. It also says which memory a call reads and writes, which is how work after an error is skipped and races can be
// found.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/argument_copy.h"
#include "kernels/missing.h"
#include "runtime/virtual/stream.h"

namespace tandem::kernels::queued {

using runtime::virtual_gpu::Range;

/// The memory one call touches.
struct Touched {
  std::vector<Range> writes, reads;

  /// From the first to the last element of a strided array.
  static Range span(const void* data, DType dtype, int ndim, const int64_t* sizes, const int64_t* strides) {
    const auto [first, last] = extent_of(ndim, sizes, strides);
    int64_t count = 1;
    for (int i = 0; i < ndim; ++i) count *= sizes[i];
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
  template <OptimizerParameter T>
  void add(const Span<T>& parameters) {
    for (const T& each : parameters) {
      const size_t bytes = static_cast<size_t>(each.numel) * size_of(each.dtype);
      if (bytes == 0) continue;
      for (void* data : each.changed()) {
        if (!data) continue;
        writes.push_back({data, bytes, true});
        reads.push_back({data, bytes, true});
      }
      reads.push_back({each.gradient, bytes, true});
    }
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
};

/// Empty lists, kept by the calling thread for their memory. One for all entries: what a thread keeps is scarce where the library is opened
/// while a program runs (docs/base.md).
inline Touched& nothing_touched() {
  thread_local std::unique_ptr<Touched> kept;
  if (!kept) kept = std::make_unique<Touched>();
  kept->writes.clear();
  kept->reads.clear();
  return *kept;
}

template <const Table& (*executed)(), auto Entry>
struct Queued;
template <const Table& (*executed)(), class... Args, void (*Table::*Entry)(const Queue&, Args...)>
struct Queued<executed, Entry> {
  static void call(const Queue& queue, Args... args) {
    Touched& touched = nothing_touched();
    (touched.add(args), ...);
    runtime::virtual_gpu::enqueue(
        queue,
        [kept = std::tuple<ArgumentCopy<Args>...>(ArgumentCopy<Args>(args)...)](const Queue& on_stream) {
          std::apply([&](const auto&... each) { (executed().*Entry)(on_stream, each.get()...); }, kept);
        },
        touched.writes, touched.reads);
  }
};

}  // namespace tandem::kernels::queued

namespace tandem::kernels {

/// The kernels of executed(), queued.
template <const Table& (*executed)()>
Table queued_table() {
  Table table = executed();  // the workspace queries stay as they are: they do no work
  for_each_entry([&]<auto Entry>(const char*) { table.*Entry = queued::Queued<executed, Entry>::call; });
  return table;
}

}  // namespace tandem::kernels
