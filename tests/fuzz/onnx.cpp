#include "fuzz.h"
#include "onnx/model.h"

// A model, whatever its operators. It is not run: a loop may be as long as it likes.
void fuzz::read(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  if (succeeds([&] { (void)tandem::onnx::summarize(path); })) (void)succeeds([&] { (void)tandem::onnx::load(path); });
}
