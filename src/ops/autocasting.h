// How an operation asks autocast, in its first line:
//
//   if (const ops::Cast cast("mm", site, a, b); cast) return mm(cast(a), cast(b), site);
//
// Where no autocast is on, that is one look at the thread's state. Else the operation's row of autocast.def says what `cast` makes of
// tensors, and inside of the scope no other operation asks. For the library.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/autocast.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// What autocast.def says of an operation on a kind of device.
enum class CastRule : uint8_t { None, Whole, Lower, Float, Widest, Refused };

/// A row of autocast.def, found by its name when the program is compiled.
struct CastRow {
  std::string_view name;
  CastRule cpu, gpu;
};
inline constexpr CastRow kCastRows[] = {
#define TD_AUTOCAST(name, cpu, gpu) {#name, CastRule::cpu, CastRule::gpu},
#include "ops/autocast.def"
#undef TD_AUTOCAST
};
/// nullptr where there is none: nothing is cast then.
constexpr const CastRow* find_cast_row(std::string_view name) {
  for (const CastRow& row : kCastRows)
    if (row.name == name) return &row;
  return nullptr;
}

/// The same without a pointer: that it is none is no constant to gcc 12 where the sanitizer of undefined behaviour watches.
constexpr bool has_cast_row(std::string_view name) {
  for (const CastRow& row : kCastRows)
    if (row.name == name) return true;
  return false;
}

/// An operation that has a row.
struct CastName {
  consteval CastName(const char* name) : row(find_cast_row(name)) {  // NOLINT: a name stands for its row
    if (!has_cast_row(name)) throw "autocast.def has no row of that name";
  }
  constexpr CastName(const CastRow* found) : row(found) {}  // NOLINT: nullptr where nothing is cast

  const CastRow* row;
};

/// Whether autocast is on for the calling thread, on any kind of device.
[[nodiscard]] inline bool autocasts() { return detail::autocast_state.active != 0; }

/// The scope of one operation under autocast.
class Cast {
 public:
  /// `tensors`: those that decide on which kind of device, and in which type the widest is: Tensors, vectors of them and Operands.
  template <class... Tensors>
  Cast(CastName op, Site site, const Tensors&... tensors) {
    if (!autocasts() || !op.row) [[likely]]
      return;
    std::vector<const Tensor*> list;
    (collect(list, tensors), ...);
    begin(*op.row, site, list);
  }
  ~Cast() {
    if (applies_) detail::autocast_state.active = before_;
  }
  Cast(const Cast&) = delete;
  Cast& operator=(const Cast&) = delete;

  /// Whether the operation is to be called again, with what the functions below give.
  explicit operator bool() const { return applies_; }

  [[nodiscard]] Tensor operator()(const Tensor& x) const { return converts(x) ? converted(x) : x; }
  [[nodiscard]] std::vector<Tensor> operator()(const std::vector<Tensor>& list) const {
    std::vector<Tensor> result;
    result.reserve(list.size());
    for (const Tensor& x : list) result.push_back((*this)(x));
    return result;
  }
  /// `held` keeps the tensor of the operand.
  [[nodiscard]] Operand operator()(const Operand& x, Tensor& held) const;
  /// Options with the tensors among them cast.
  template <class Options>
  requires(
      requires(Options o) { o.weight; } || requires(Options o) { o.attn_mask; }) [[nodiscard]] Options
  operator()(Options options) const {
    if constexpr (requires { options.weight; }) options.weight = (*this)(options.weight);
    if constexpr (requires { options.pos_weight; }) options.pos_weight = (*this)(options.pos_weight);
    if constexpr (requires { options.attn_mask; }) options.attn_mask = (*this)(options.attn_mask);
    return options;
  }

 private:
  static void collect(std::vector<const Tensor*>& list, const Tensor& x) { list.push_back(&x); }
  static void collect(std::vector<const Tensor*>& list, const std::vector<Tensor>& tensors) {
    for (const Tensor& x : tensors) list.push_back(&x);
  }
  static void collect(std::vector<const Tensor*>& list, const Operand& x) {
    if (x.is_tensor()) list.push_back(&x.tensor());
  }
  static void collect(std::vector<const Tensor*>& list, std::span<const Operand* const> operands) {
    for (const Operand* x : operands) collect(list, *x);
  }

  void begin(const CastRow& row, Site site, std::span<const Tensor* const> tensors);
  [[nodiscard]] bool may_convert(const Tensor& x) const;
  [[nodiscard]] bool converts(const Tensor& x) const;
  [[nodiscard]] Tensor converted(const Tensor& x) const;

  bool applies_ = false, converts_ = false;
  uint8_t before_ = 0;
  DeviceType device_ = DeviceType::CPU;
  DType to_ = kFloat32;
  Site site_ = Site::none();
};

}  // namespace tandem::ops
