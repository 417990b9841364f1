// A kernel call that was noted: which kernel, its arguments, and the addresses among them, which can be changed.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/site.h"
#include "kernels/argument_copy.h"
#include "kernels/table.h"

namespace tandem::compiling {

/// An address among a call's arguments, and the bytes that the call may touch there.
struct Touch {
  enum Kind : uint8_t { Reads, Writes, Scratch };

  void** at;          // where the argument keeps it
  const char* begin;  // of the bytes; `*at` may lie behind it
  size_t bytes;
  Kind kind;
  bool dense;  // every byte is touched
};

/// A noted call of any kernel.
class Call {
 public:
  Call(const char* op, Site site) : op_(op), site_(site) {}
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  virtual void run(const Queue& queue) const = 0;
  /// All its addresses that are not nullptr.
  [[nodiscard]] virtual std::vector<Touch> touches() = 0;
  [[nodiscard]] const char* op() const { return op_; }
  [[nodiscard]] Site site() const { return site_; }

 private:
  const char* op_;
  Site site_;
};

namespace detail {

using kernels::ArgumentCopy;

/// Puts the addresses of arguments together.
class Touches {
 public:
  std::vector<Touch> found;

  void add(kernels::Out& out) { add_view(out, Touch::Writes); }
  void add(kernels::View& in) { add_view(in, Touch::Reads); }
  void add(kernels::Pointwise& call) {
    if (call.numel == 0) return;
    const auto element = [&](void** at, DType dtype, const int64_t* strides, Touch::Kind kind) {
      if (call.contiguous) found.push_back({at, static_cast<char*>(*at), static_cast<size_t>(call.numel) * size_of(dtype), kind, true});
      else add_strided(at, dtype, call.ndim, call.sizes, strides, kind);
    };
    for (int i = 0; i < call.inputs; ++i)
      if (call.in[i].data) element(const_cast<void**>(&call.in[i].data), call.in[i].dtype, call.in[i].strides, Touch::Reads);
    element(&call.out, call.out_dtype, call.out_strides, Touch::Writes);
  }
  void add(void*& scratch) {
    if (scratch) found.push_back({&scratch, static_cast<char*>(scratch), 0, Touch::Scratch, false});
  }
  void add(std::vector<kernels::View>& views) {
    for (kernels::View& view : views) add(view);
  }
  void add(std::vector<kernels::Out>& outs) {
    for (kernels::Out& out : outs) add(out);
  }
  void add(const std::vector<int64_t>&) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(const T&) {}
  void add(const kernels::Value&) {}
  void add(const kernels::Epilogue&) {}
  void add(const kernels::Windows&) {}
  void add(const kernels::Pooling&) {}
  void add(const kernels::GridSample&) {}
  void add(const kernels::Attention&) {}
  void add(const kernels::RecurrentLayers&) {}

 private:
  void add_strided(void** at, DType dtype, int ndim, const int64_t* sizes, const int64_t* strides, Touch::Kind kind) {
    const auto [first, last] = kernels::extent_of(ndim, sizes, strides);
    int64_t count = 1;
    for (int i = 0; i < ndim; ++i) count *= sizes[i];
    const auto width = static_cast<int64_t>(size_of(dtype));
    found.push_back(
        {at, static_cast<char*>(*at) + first * width, static_cast<size_t>((last - first + 1) * width), kind, count == last - first + 1});
  }
  void add_view(kernels::View& view, Touch::Kind kind) {
    if (view.data && view.numel() > 0) add_strided(&view.data, view.dtype, view.ndim, view.sizes, view.strides, kind);
  }
};

}  // namespace detail

/// A noted call of one row of entries.def: `CallOf<&kernels::Table::softmax>`.
template <auto Entry>
class CallOf;
template <class... Args, void (*kernels::Table::*Entry)(const Queue&, Args...)>
class CallOf<Entry> final : public Call {
 public:
  explicit CallOf(const Queue& queue, const Args&... args) : Call(queue.op, queue.site), arguments_(detail::ArgumentCopy<Args>(args)...) {}

  void run(const Queue& queue) const override {
    std::apply([&](const auto&... each) { (kernels::cpu_table().*Entry)(queue, each.get()...); }, arguments_);
  }
  [[nodiscard]] std::vector<Touch> touches() override {
    detail::Touches touches;
    std::apply(
        [&](auto&... each) {
          const auto add = [&](auto& kept) {
            if constexpr (requires { kept.values; }) touches.add(kept.values);
            else touches.add(kept.value);
          };
          (add(each), ...);
        },
        arguments_);
    return std::move(touches.found);
  }
  /// Argument `i`, counted from 0 behind the queue.
  template <size_t i>
  [[nodiscard]] decltype(auto) argument() const {
    return std::get<i>(arguments_).get();
  }

 private:
  std::tuple<detail::ArgumentCopy<Args>...> arguments_;
};

}  // namespace tandem::compiling
