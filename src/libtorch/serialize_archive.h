// Archives: values by name, and archives in archives, in files that Python's torch.load reads. What stands in an archive of an archive has
// names with points, as in Python's state_dict: "conv1.weight".
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
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
  [[nodiscard]] static OutputArchive of(const IValue& value) {
    OutputArchive archive;
    archive.whole_ = value.plain();
    return archive;
  }
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;
  OutputArchive(const OutputArchive&) = delete;
  OutputArchive& operator=(const OutputArchive&) = delete;

  /// For `OutputArchive nested(archive.compilation_unit())`.
  [[nodiscard]] std::shared_ptr<jit::CompilationUnit> compilation_unit() const { return nullptr; }

  void write(const std::string& key, const IValue& value) { entries_.emplace_back(key, value.plain()); }
  void write(const std::string& key, const tandem::Tensor& tensor, bool /*is_buffer*/ = false) {
    entries_.emplace_back(key, detail::plain(tensor));
  }
  void write(const std::string& key, OutputArchive& nested) {
    for (auto& [name, value] : nested.entries_) entries_.emplace_back(key + "." + name, std::move(value));
    nested.entries_.clear();
  }
  /// As write, for code that is the same for both archives.
  template <class... T>
  void operator()(T&&... arguments) {
    write(std::forward<T>(arguments)...);
  }

  /// Writes the file whole or not at all.
  void save_to(const std::string& filename, tandem::Site site = tandem::Site::here()) { tandem::io::save_torch(filename, value(), site); }
  void save_to(std::ostream& stream, tandem::Site site = tandem::Site::here()) {
    const std::string bytes = detail::bytes_of(value(), site);
    if (!stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) tandem::fail("[save] the stream takes no more bytes");
  }
  /// `write` is given bytes until it has taken all, and says how many it took.
  void save_to(const std::function<size_t(const void*, size_t)>& writer, tandem::Site site = tandem::Site::here()) {
    const std::string bytes = detail::bytes_of(value(), site);
    for (size_t done = 0; done < bytes.size();) {
      const size_t taken = writer(bytes.data() + done, bytes.size() - done);
      if (taken == 0) tandem::fail("[save] the writer function took ", done, " of ", bytes.size(), " bytes and then none");
      done += taken;
    }
  }

 private:
  [[nodiscard]] tandem::io::PlainValue value() const {
    if (whole_) return *whole_;
    tandem::io::PlainValue::Pairs pairs;
    pairs.reserve(entries_.size());
    for (const auto& [name, entry] : entries_) pairs.emplace_back(name, entry);
    return tandem::io::PlainValue::dict(std::move(pairs));
  }

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
  bool try_read(const std::string& key, IValue& value, tandem::Site = tandem::Site::here()) {
    const auto* found = find(key);
    if (found) value = IValue(*found);
    return found != nullptr;
  }
  /// A tensor that is defined takes over the values where it is; with other sizes, it takes over the tensor of the file.
  bool try_read(const std::string& key, tandem::Tensor& tensor, bool /*is_buffer*/ = false, tandem::Site site = tandem::Site::here()) {
    const auto* found = find(key);
    if (!found || (found->kind() != IValue::Kind::Tensor && !found->is_none())) return false;
    if (found->is_none() || !tensor.defined()) detail::take(*found, tensor);
    else take_over(tensor, found->to_tensor(), site);
    return true;
  }
  bool try_read(const std::string& key, InputArchive& archive, tandem::Site = tandem::Site::here()) {
    const std::string prefix = prefix_ + key + ".";
    if (!has_names_with(prefix)) return false;
    archive.entries_ = entries_;
    archive.prefix_ = prefix;
    archive.is_missing_ = false;
    return true;
  }

  /// Error where there is no such value.
  void read(const std::string& key, IValue& value, tandem::Site site = tandem::Site::here()) {
    if (!try_read(key, value, site)) fail_without("[load] the archive does not have a field with name '", key);
  }
  void read(const std::string& key, tandem::Tensor& tensor, bool is_buffer = false, tandem::Site site = tandem::Site::here()) {
    if (!try_read(key, tensor, is_buffer, site)) fail_without("[load] No such serialized tensor '", key);
  }
  /// Error where there is no such archive, as soon as something is read from it: one that was empty has left no trace in the file.
  void read(const std::string& key, InputArchive& archive, tandem::Site site = tandem::Site::here()) {
    if (try_read(key, archive, site)) return;
    archive.entries_ = entries_;
    archive.prefix_ = prefix_ + key + ".";
    archive.is_missing_ = true;
  }
  /// As read, for code that is the same for both archives.
  template <class Value>
  void operator()(const std::string& key, Value& value, tandem::Site site = tandem::Site::here()) {
    if constexpr (std::is_same_v<Value, tandem::Tensor>) read(key, value, false, site);
    else read(key, value, site);
  }
  void operator()(const std::string& key, tandem::Tensor& tensor, bool is_buffer, tandem::Site site = tandem::Site::here()) {
    read(key, tensor, is_buffer, site);
  }

  /// The names in this archive, those of archives in it among them, in the order of the file.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::pair<size_t, std::string>> ordered;
    if (entries_) {
      for (auto at = entries_->lower_bound(prefix_); at != entries_->end() && at->first.starts_with(prefix_); ++at) {
        const std::string_view rest = std::string_view(at->first).substr(prefix_.size());
        const std::string key(rest.substr(0, rest.find('.')));
        if (ordered.empty() || ordered.back().second != key) ordered.emplace_back(at->second.order, key);
        else if (at->second.order < ordered.back().first) ordered.back().first = at->second.order;
      }
    }
    std::sort(ordered.begin(), ordered.end());
    std::vector<std::string> names;
    names.reserve(ordered.size());
    for (auto& [order, name] : ordered) names.push_back(std::move(name));
    return names;
  }

  /// Tensors go onto `device`, or the CPU.
  void load_from(const std::string& filename, std::optional<tandem::Device> device = std::nullopt,
                 tandem::Site site = tandem::Site::here()) {
    set(tandem::io::read_torch(filename, device.value_or(tandem::cpu()), site));
  }
  void load_from(std::istream& stream, std::optional<tandem::Device> device = std::nullopt, tandem::Site site = tandem::Site::here()) {
    const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    stream.clear(stream.rdstate() & ~std::ios::failbit);  // it may be read again from its beginning
    set(detail::value_of(bytes, device.value_or(tandem::cpu()), site));
  }
  void load_from(const char* data, size_t size, std::optional<tandem::Device> device = std::nullopt,
                 tandem::Site site = tandem::Site::here()) {
    set(detail::value_of({data, size}, device.value_or(tandem::cpu()), site));
  }
  /// `reader` copies bytes from a position on, and says how many; `size` says how many there are.
  void load_from(const std::function<size_t(uint64_t position, void* to, size_t bytes)>& reader, const std::function<size_t()>& size,
                 std::optional<tandem::Device> device = std::nullopt, tandem::Site site = tandem::Site::here()) {
    std::string bytes(size(), '\0');
    for (size_t done = 0; done < bytes.size();) {
      const size_t given = reader(done, bytes.data() + done, bytes.size() - done);
      if (given == 0) tandem::fail("[load] the reader function gave ", done, " of ", bytes.size(), " bytes and then none");
      done += given;
    }
    set(detail::value_of(bytes, device.value_or(tandem::cpu()), site));
  }

 private:
  struct Entry {
    size_t order = 0;  // in the file
    tandem::io::PlainValue value;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  void set(const tandem::io::PlainValue& value) {
    auto entries = std::make_shared<Entries>();
    switch (value.kind()) {
      case IValue::Kind::Dict: add(*entries, "", value); break;
      case IValue::Kind::List:
      case IValue::Kind::Tuple:
        for (size_t i = 0; i < value.size(); ++i) add(*entries, std::to_string(i), value[i]);
        break;
      default: add(*entries, "0", value);
    }
    entries_ = std::move(entries);
    prefix_.clear();
    is_missing_ = false;
  }
  static void add(Entries& entries, const std::string& name, const tandem::io::PlainValue& value) {
    if (!name.empty()) entries.try_emplace(name, Entry{entries.size(), value});
    if (value.kind() != IValue::Kind::Dict) return;
    for (const auto& [key, item] : value.pairs()) {
      std::string text = key.kind() == IValue::Kind::Text ? key.to_text() : tandem::str(key);
      add(entries, name.empty() ? std::move(text) : name + "." + text, item);
    }
  }
  [[nodiscard]] const tandem::io::PlainValue* find(const std::string& key) const {
    if (!entries_) return nullptr;
    const auto found = entries_->find(prefix_ + key);
    return found == entries_->end() ? nullptr : &found->second.value;
  }
  [[nodiscard]] bool has_names_with(const std::string& prefix) const {
    if (!entries_) return false;
    const auto at = entries_->lower_bound(prefix);
    return at != entries_->end() && at->first.starts_with(prefix);
  }
  static void take_over(const tandem::Tensor& tensor, const tandem::Tensor& source, tandem::Site site) {
    const tandem::NoGradGuard no_grad;
    if (tensor.sizes() == source.sizes() && tensor.dtype() == source.dtype()) tensor.copy_(source, false, site);
    else tensor.set_data(source.to(tensor.device(), {}, site), site);
  }
  [[noreturn]] void fail_without(const char* message, const std::string& key) const {
    if (is_missing_) tandem::fail("[load] No such serialized submodule: '", prefix_.substr(0, prefix_.size() - 1), "'");
    tandem::fail(message, prefix_, key, "'; there is ", listed());
  }
  [[nodiscard]] std::string listed() const {
    std::string text;
    size_t count = 0;
    for (const std::string& key : keys()) {
      if (++count > 20) return text + ", …";
      text += (count > 1 ? ", '" : "'") + key + "'";
    }
    return count == 0 ? "none" : text;
  }

  std::shared_ptr<const Entries> entries_;  // none before load_from
  std::string prefix_;                      // of this archive's names in the file
  bool is_missing_ = false;                 // the file has nothing under the prefix
};

}  // namespace torch::serialize
