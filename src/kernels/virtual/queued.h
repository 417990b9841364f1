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
#include "kernels/touched.h"
#include "runtime/virtual/stream.h"

namespace tandem::kernels::queued {

using runtime::virtual_gpu::Range;

/// The memory that a call touches.
struct Ranges {
  std::vector<Range> writes, reads;

  void operator()(const Touched& elements) {
    if (elements.touch == Touch::Scratch) return;
    const auto [begin, bytes, dense] = elements.reach();
    if (elements.touch != Touch::Read) writes.push_back({begin, bytes, dense});
    if (elements.touch != Touch::Written) reads.push_back({begin, bytes, dense});
  }
};

/// Empty lists, kept by the calling thread for their memory. One for all entries: what a thread keeps is scarce where the library is opened
/// while a program runs (docs/base.md).
inline Ranges& no_ranges() {
  thread_local std::unique_ptr<Ranges> kept;
  if (!kept) kept = std::make_unique<Ranges>();
  kept->writes.clear();
  kept->reads.clear();
  return *kept;
}

template <const Table& (*executed)(), auto Entry>
struct Queued;
template <const Table& (*executed)(), class... Args, void (*Table::*Entry)(const Queue&, Args...)>
struct Queued<executed, Entry> {
  static void call(const Queue& queue, Args... args) {
    Ranges& touched = no_ranges();
    (each_touched(args, touched), ...);
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
