// Archives: values by name, and archives in archives, in files that Python's torch.load reads. What stands in an archive of an archive has
// names with points, as in Python's state_dict: "conv1.weight".
#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/torch_file.h"
#include "libtorch/serialize_bytes.h"
#include "libtorch/serialize_value.h"
#include "tensor/tensor.h"

namespace torch::jit {
/// A name for programs that hand it from archive to archive; there is no TorchScript here.
struct CompilationUnit {};
}  // namespace torch::jit

namespace torch::serialize {

/// Where an archive is written to.
class OutputArchive final {
 public:
  OutputArchive() = default;
  explicit OutputArchive(std::shared_ptr<jit::CompilationUnit> /*unit*/) {}
  /// An archive whose file holds one value, and no names.
  [[nodiscard]] static OutputArchive of(const IValue& value);
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;
  OutputArchive(const OutputArchive&) = delete;
  OutputArchive& operator=(const OutputArchive&) = delete;

  /// For `OutputArchive nested(archive.compilation_unit())`.
  [[nodiscard]] std::shared_ptr<jit::CompilationUnit> compilation_unit() const { return nullptr; }

  void write(const std::string& key, const IValue& value);
  void write(const std::string& key, const tandem::Tensor& tensor, bool /*is_buffer*/ = false);
  void write(const std::string& key, OutputArchive& nested);
  /// As write, for code that is the same for both archives.
  template <class... T>
  void operator()(T&&... arguments) {
    write(std::forward<T>(arguments)...);
  }

  /// Writes the file whole or not at all.
  void save_to(const std::string& filename, tandem::Site site = tandem::Site::here());
  void save_to(std::ostream& stream, tandem::Site site = tandem::Site::here());
  /// `write` is given bytes until it has taken all, and says how many it took.
  void save_to(const std::function<size_t(const void*, size_t)>& writer, tandem::Site site = tandem::Site::here());

 private:
  [[nodiscard]] tandem::io::PlainValue value() const;

  std::vector<std::pair<std::string, tandem::io::PlainValue>> entries_;
  std::optional<tandem::io::PlainValue> whole_;
};

/// What an archive is read from: files of ours, of Python's torch.save, and of libtorch. Nothing of a file is run.
class InputArchive final {
 public:
  InputArchive() = default;
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;
  InputArchive(const InputArchive&) = delete;
  InputArchive& operator=(const InputArchive&) = delete;

  /// Whether there is such a value; it is read then.
  bool try_read(const std::string& key, IValue& value, tandem::Site = tandem::Site::here());
  /// A tensor that is defined takes over the values where it is; with other sizes, it takes over the tensor of the file.
  bool try_read(const std::string& key, tandem::Tensor& tensor, bool /*is_buffer*/ = false, tandem::Site site = tandem::Site::here());
  bool try_read(const std::string& key, InputArchive& archive, tandem::Site = tandem::Site::here());

  /// Error where there is no such value.
  void read(const std::string& key, IValue& value, tandem::Site site = tandem::Site::here());
  void read(const std::string& key, tandem::Tensor& tensor, bool is_buffer = false, tandem::Site site = tandem::Site::here());
  /// Error where there is no such archive, as soon as something is read from it: one that was empty has left no trace in the file.
  void read(const std::string& key, InputArchive& archive, tandem::Site site = tandem::Site::here());
  /// As read, for code that is the same for both archives.
  template <class Value>
  void operator()(const std::string& key, Value& value, tandem::Site site = tandem::Site::here()) {
    if constexpr (std::is_same_v<Value, tandem::Tensor>) read(key, value, false, site);
    else read(key, value, site);
  }
  void operator()(const std::string& key, tandem::Tensor& tensor, bool is_buffer, tandem::Site site = tandem::Site::here());

  /// The names in this archive, those of archives in it among them, in the order of the file.
  [[nodiscard]] std::vector<std::string> keys() const;

  /// Tensors go onto `device`, or the CPU.
  void load_from(const std::string& filename, std::optional<tandem::Device> device = std::nullopt,
                 tandem::Site site = tandem::Site::here());
  void load_from(std::istream& stream, std::optional<tandem::Device> device = std::nullopt, tandem::Site site = tandem::Site::here());
  void load_from(const char* data, size_t size, std::optional<tandem::Device> device = std::nullopt,
                 tandem::Site site = tandem::Site::here());
  /// `reader` copies bytes from a position on, and says how many; `size` says how many there are.
  void load_from(const std::function<size_t(uint64_t position, void* to, size_t bytes)>& reader, const std::function<size_t()>& size,
                 std::optional<tandem::Device> device = std::nullopt, tandem::Site site = tandem::Site::here());

 private:
  struct Entry {
    size_t order = 0;  // in the file
    tandem::io::PlainValue value;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  void set(const tandem::io::PlainValue& value);
  static void add(Entries& entries, const std::string& name, const tandem::io::PlainValue& value);
  [[nodiscard]] const tandem::io::PlainValue* find(const std::string& key) const;
  [[nodiscard]] bool has_names_with(const std::string& prefix) const;
  static void take_over(const tandem::Tensor& tensor, const tandem::Tensor& source, tandem::Site site);
  [[noreturn]] void fail_without(const char* message, const std::string& key) const;
  [[nodiscard]] std::string listed() const;

  std::shared_ptr<const Entries> entries_;  // none before load_from
  std::string prefix_;                      // of this archive's names in the file
  bool is_missing_ = false;                 // the file has nothing under the prefix
};

}  // namespace torch::serialize
