// Python's pickle format, as far as plain data and the tensors of torch.save's files need it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tandem::io {

/// Writes one value in pickle's protocol 2 (docs.python.org/3/library/pickle.html, opcodes as in Lib/pickletools.py), which every Python 3
/// loads. Containers are opened and closed; between them, a dict takes keys and values in turn.
class PickleWriter {
 public:
  PickleWriter() : bytes_("\x80\x02") {}

  void begin_dict() { bytes_ += "}("; }
  void end_dict() { bytes_ += 'u'; }
  void begin_list() { bytes_ += "]("; }
  void end_list() { bytes_ += 'e'; }
  /// Bytes that are no UTF-8 become question marks. The same text costs five bytes from its second time on.
  void text(std::string_view value);
  void number(int64_t value);
  void number(uint64_t value);
  void boolean(bool value) { bytes_ += value ? '\x88' : '\x89'; }
  void real(double value);
  void none() { bytes_ += 'N'; }
  void begin_tuple() { bytes_ += '('; }
  void end_tuple() { bytes_ += 't'; }
  /// A name of a module's, such as a class or a function.
  void global(std::string_view module, std::string_view name);
  /// The function and the tuple that were written last become what the function gives.
  void call() { bytes_ += 'R'; }
  /// The tuple that was written last says where to find a value that stands outside of the pickle.
  void outside() { bytes_ += 'Q'; }
  /// A pair of whole numbers.
  void pair(int64_t first, int64_t second);
  /// The pickle of the value that was written. The writer is used up.
  [[nodiscard]] std::string finish() { return std::move(bytes_ += '.'); }

 private:
  void little_endian(uint64_t value, int bytes);

  std::string bytes_;
  std::map<std::string, uint32_t, std::less<>> texts_;  // by number in pickle's memo
};

}  // namespace tandem::io
