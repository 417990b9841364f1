// A kernel call that was noted: which kernel, its arguments, and the addresses among them, which can be changed.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/site.h"
#include "kernels/argument_copy.h"
#include "kernels/touched.h"

namespace tandem::compiling {

/// An address among a call's arguments, and the bytes that the call may touch there.
struct Address {
  void** at;          // where the argument keeps it
  const char* begin;  // of the bytes; `*at` may lie behind it
  size_t bytes;
  Touch kind;  // not Changed: what is changed is there twice, read and written
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
  [[nodiscard]] virtual std::vector<Address> addresses() = 0;
  [[nodiscard]] const char* op() const { return op_; }
  [[nodiscard]] Site site() const { return site_; }

 private:
  const char* op_;
  Site site_;
};

namespace detail {

using kernels::ArgumentCopy;

/// Puts the addresses of arguments together.
struct Addresses {
  std::vector<Address> found;

  void operator()(const kernels::Touched& elements) {
    const auto [begin, bytes, dense] = elements.reach();
    const auto add = [&, begin = begin, bytes = bytes, dense = dense](Touch kind) {
      found.push_back({const_cast<void**>(elements.at), begin, bytes, kind, dense});
    };
    if (elements.touch != Touch::Changed) return add(elements.touch);
    add(Touch::Read);
    add(Touch::Written);
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
  [[nodiscard]] std::vector<Address> addresses() override {
    detail::Addresses addresses;
    std::apply(
        [&](auto&... each) {
          const auto add = [&](auto& kept) {
            if constexpr (requires { kept.values; }) kernels::each_touched(kept.values, addresses);
            else kernels::each_touched(kept.value, addresses);
          };
          (add(each), ...);
        },
        arguments_);
    return std::move(addresses.found);
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
