#include "train/trainer_precision.h"

#include "base/error.h"

namespace tandem::train {

TrainerPrecision::TrainerPrecision(std::string_view name) {
  if (name == "32" || name == "32-true") return;
  is_mixed_ = true;
  if (name == "bf16-mixed") dtype_ = kBFloat16;
  else if (name == "16-mixed") dtype_ = kFloat16;
  else fail("[Trainer] precision must be '32', 'bf16-mixed', '16-mixed' or a floating dtype such as kBFloat16, but is '", name, "'");
}

TrainerPrecision::TrainerPrecision(DType dtype) : dtype_(dtype) {
  if (!is_floating(dtype)) fail("[Trainer] precision must be bfloat16, float16, float32 or float64, but is ", dtype);
}

std::string TrainerPrecision::str() const {
  if (!dtype_) return "32";
  return !is_mixed_ ? name(*dtype_) : *dtype_ == kBFloat16 ? "bf16-mixed" : "16-mixed";
}

}  // namespace tandem::train
