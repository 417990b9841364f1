// Raw tensors for testing kernels without tensors: memory with guard bytes on both sides, views of it, and a queue that keeps its status.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/every_set.h"
#include "kernels/queue.h"
#include "kernels/table.h"

namespace tandem::kernels::testing {

/// Elements of any dtype in dense memory between guards; every access from here goes through double or int64.
class Memory {
 public:
  Memory(DType dtype, int64_t count)
      : dtype_(dtype), count_(count), bytes_(static_cast<size_t>(count) * size_of(dtype) + 2 * kGuard, kPattern) {}
  ~Memory() {
    for (size_t i = 0; i < kGuard; ++i)
      if (bytes_[i] != kPattern || bytes_[bytes_.size() - 1 - i] != kPattern) {
        ADD_FAILURE() << "a kernel wrote outside its output";
        break;
      }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] void* data() { return bytes_.data() + kGuard; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] int64_t count() const { return count_; }

  void set(int64_t i, double value) {
    visit(dtype_, [&](auto zero) {
      using T = decltype(zero);
      T x;
      if constexpr (std::is_same_v<T, bool>) x = value != 0;
      else if constexpr (std::is_same_v<T, double>) x = value;
      else if constexpr (std::is_integral_v<T>) x = static_cast<T>(static_cast<int64_t>(value));
      else x = T(static_cast<float>(value));
      std::memcpy(static_cast<char*>(data()) + i * static_cast<int64_t>(sizeof x), static_cast<const void*>(&x), sizeof x);
    });
  }
  [[nodiscard]] double get(int64_t i) {
    return visit(dtype_, [&](auto x) {
      std::memcpy(static_cast<void*>(&x), static_cast<char*>(data()) + i * static_cast<int64_t>(sizeof x), sizeof x);
      if constexpr (std::is_same_v<decltype(x), Half> || std::is_same_v<decltype(x), BFloat16>)
        return static_cast<double>(static_cast<float>(x));
      else return static_cast<double>(x);
    });
  }
  template <class T>
  [[nodiscard]] T* as() {
    return static_cast<T*>(data());
  }

  /// A view of the given sizes; strides in elements (dense where left out), `offset` elements from the start.
  [[nodiscard]] View view(std::vector<int64_t> sizes, std::vector<int64_t> strides = {}, int64_t offset = 0) {
    View v;
    v.data = static_cast<char*>(data()) + offset * static_cast<int64_t>(size_of(dtype_));
    v.dtype = dtype_;
    v.ndim = static_cast<int32_t>(sizes.size());
    int64_t dense = 1;
    for (int d = v.ndim - 1; d >= 0; --d) {
      v.sizes[d] = sizes[static_cast<size_t>(d)];
      v.strides[d] = strides.empty() ? dense : strides[static_cast<size_t>(d)];
      dense *= v.sizes[d];
    }
    return v;
  }
  [[nodiscard]] Out out(std::vector<int64_t> sizes, std::vector<int64_t> strides = {}, int64_t offset = 0) {
    return Out{view(std::move(sizes), std::move(strides), offset)};
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr char kPattern = 0x5a;
  DType dtype_;
  int64_t count_;
  std::vector<char> bytes_;
};

/// Where element `i` (row-major) of a view lies, in elements from its start.
inline int64_t place(const View& v, int64_t i) {
  int64_t offset = 0;
  for (int d = v.ndim - 1; d >= 0; --d) {
    offset += i % v.sizes[d] * v.strides[d];
    i /= v.sizes[d];
  }
  return offset;
}

/// Adds an operand to a call: the view's strides over the call's sizes.
inline void add_operand(Pointwise& call, const View& v) {
  PointwiseOperand& in = call.in[call.inputs++];
  in.data = v.data;
  in.dtype = v.dtype;
  for (int d = 0; d < v.ndim; ++d) in.strides[d] = v.strides[d];
}
inline void add_operand(Pointwise& call, double number) {
  PointwiseOperand& in = call.in[call.inputs++];
  in.data = nullptr;
  in.dtype = kFloat64;
  in.value = {number, 0, true};
}
/// A call without operands yet. `contiguous` is set where everything is dense, as ops do it.
inline Pointwise call_of(PointwiseOp op, DType compute, const Out& out, bool contiguous) {
  Pointwise call{};
  call.op = op;
  call.compute = compute;
  call.out_dtype = out.dtype;
  call.ndim = static_cast<int8_t>(out.ndim);
  call.contiguous = contiguous;
  call.out = out.data;
  call.numel = out.numel();
  for (int d = 0; d < out.ndim; ++d) {
    call.sizes[d] = out.sizes[d];
    call.out_strides[d] = out.strides[d];
  }
  return call;
}

}  // namespace tandem::kernels::testing
