// How tensors look: PyTorch's text, to the letter.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "tensor/operand.h"
#include "tensor/tensor.h"

namespace tandem {

/// torch.set_printoptions' settings.
struct PrintOptions {
  int precision = 4;
  int64_t threshold = 1000;  // more elements than this are summarised
  int64_t edgeitems = 3;
  int linewidth = 80;
  std::optional<bool> sci_mode = {};  // whether floating numbers have exponents; by the numbers unless given
  const char* dtype_prefix = "";      // before the names of dtypes, as another language writes them: "torch."; a literal
};
/// For the calling thread.
void set_print_options(PrintOptions options);
/// Those of the calling thread.
[[nodiscard]] PrintOptions get_print_options();
/// Print options until the end of the scope.
class PrintOptionsGuard {
 public:
  explicit PrintOptionsGuard(PrintOptions options) : before_(get_print_options()) { set_print_options(options); }
  ~PrintOptionsGuard() { set_print_options(before_); }
  PrintOptionsGuard(const PrintOptionsGuard&) = delete;
  PrintOptionsGuard& operator=(const PrintOptionsGuard&) = delete;

 private:
  PrintOptions before_;
};

/// The text of a tensor. One copy to the host of what is shown, never element by element.
[[nodiscard]] std::string to_string(const Tensor& tensor, Site site = Site::here());

/// A tensor to be printed, and the line that prints it.
struct Printed {
  const Tensor& tensor;
  Site site;
  Printed(const Tensor& tensor_, Site site_ = Site::here()) : tensor(tensor_), site(site_) {}
};
/// As to_string.
std::ostream& operator<<(std::ostream& out, const Printed& printed);
/// As C++ prints a number; a bool as "true" or "false".
std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace tandem
