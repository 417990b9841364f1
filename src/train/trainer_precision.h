// What a Trainer's model computes in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace tandem::train {

/// "32", "bf16-mixed" or "16-mixed", as Lightning's Trainer has it: mixed is autocast, and with float16 a GradScaler. Or a dtype, which all
/// of the model computes in but normalizations of batches. Parameters and optimizer stay as they are.
class TrainerPrecision {
 public:
  TrainerPrecision() = default;
  /// Error for a text that is none of these.
  TrainerPrecision(std::string_view name);
  TrainerPrecision(const char* name) : TrainerPrecision(std::string_view(name)) {}
  TrainerPrecision(const std::string& name) : TrainerPrecision(std::string_view(name)) {}
  /// Error for a dtype that is not floating.
  TrainerPrecision(DType dtype);

  /// That autocast has; nothing where there is none.
  [[nodiscard]] std::optional<DType> mixed() const { return is_mixed_ ? dtype_ : std::nullopt; }
  /// That all of the model computes in; nothing where that is its own.
  [[nodiscard]] std::optional<DType> whole() const { return is_mixed_ ? std::nullopt : dtype_; }
  /// "bf16-mixed"; the dtype's name where it is one, "32" where nothing was asked for.
  [[nodiscard]] std::string str() const;

 private:
  std::optional<DType> dtype_;
  bool is_mixed_ = false;
};

}  // namespace tandem::train
