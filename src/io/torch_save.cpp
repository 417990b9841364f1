// Writes the archives that torch_file.cpp reads.
#include <map>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/utf8.h"
#include "io/file.h"
#include "io/named.h"
#include "io/pickle.h"
#include "io/torch_file.h"
#include "io/zip.h"
#include "ops/view.h"
#include "tensor/tensor_impl.h"

namespace tandem::io {
namespace {

using Kind = PlainValue::Kind;

/// Writes values as a pickle, and notes the storages that it refers to.
class ValueWriter {
 public:
  ValueWriter(const std::string& path, Site site) : path_(path), site_(site) {}

  void write(const PlainValue& value) {
    switch (value.kind()) {
      case Kind::None: return pickle_.none();
      case Kind::Bool: return pickle_.boolean(value.to_bool());
      case Kind::Integer: return pickle_.number(value.to_int());
      case Kind::Real: return pickle_.real(value.to_double());
      case Kind::Text: return text(value.to_text());
      case Kind::DType: return pickle_.global("torch", name(value.to_dtype()));
      case Kind::Bytes: return bytes(value.to_text());
      case Kind::Device: return device(value.to_text());
      case Kind::Tensor: return tensor(value.to_tensor());
      case Kind::List:
        pickle_.begin_list();
        for (const PlainValue& item : value.items()) write(item);
        return pickle_.end_list();
      case Kind::Tuple: return tuple(value);
      case Kind::Set:
        pickle_.global("__builtin__", "set");
        pickle_.begin_tuple();
        pickle_.begin_list();
        for (const PlainValue& item : value.items()) write(item);
        pickle_.end_list();
        pickle_.end_tuple();
        return pickle_.call();
      case Kind::Dict:
        pickle_.begin_dict();
        for (const auto& [key, item] : value.pairs()) {
          write(key);
          write(item);
        }
        return pickle_.end_dict();
    }
  }

  [[nodiscard]] std::string finish() { return pickle_.finish(); }
  /// One tensor of each storage, in the order of their keys, with how many elements it has.
  [[nodiscard]] const std::vector<std::pair<Tensor, int64_t>>& storages() const { return storages_; }

 private:
  void text(const std::string& value) {
    if (!is_utf8(value))
      fail("[save_torch] ", path_, ": the text ", in_quotes(value), " is not UTF-8, as PyTorch reads them: change it before it is saved");
    pickle_.text(value);
  }
  void tuple(const PlainValue& value) {
    pickle_.begin_tuple();
    for (const PlainValue& item : value.items()) write(item);
    pickle_.end_tuple();
  }
  void tuple(const Shape& numbers) {
    pickle_.begin_tuple();
    for (const int64_t number : numbers) pickle_.number(number);
    pickle_.end_tuple();
  }
  /// As protocol 2 has them: each byte as the character of its number.
  void bytes(const std::string& value) {
    pickle_.global("_codecs", "encode");
    pickle_.begin_tuple();
    std::string text;
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80) text += c;
      else (text += static_cast<char>(0xC0U | byte >> 6)) += static_cast<char>(0x80U | (byte & 0x3FU));
    }
    pickle_.text(text);
    pickle_.text("latin1");
    pickle_.end_tuple();
    pickle_.call();
  }
  void device(const std::string& name) {
    pickle_.global("torch", "device");
    pickle_.begin_tuple();
    text(name);
    pickle_.end_tuple();
    pickle_.call();
  }
  void tensor(const Tensor& tensor) {
    if (!tensor.defined()) fail("[save_torch] ", path_, ": a tensor is undefined");
    const Storage* const storage = tensor.impl().storage;
    const auto numel = static_cast<int64_t>(storage->bytes() / tensor.element_size());
    const auto [known, is_new] = keys_.try_emplace({storage, tensor.dtype()}, storages_.size());
    if (is_new) storages_.emplace_back(tensor.detach(), numel);
    pickle_.global("torch._utils", "_rebuild_tensor_v2");
    pickle_.begin_tuple();
    pickle_.begin_tuple();
    pickle_.text("storage");
    pickle_.global("torch", str(scalar_name(tensor.dtype()), "Storage"));
    pickle_.text(std::to_string(known->second));
    pickle_.text("cpu");
    pickle_.number(numel);
    pickle_.end_tuple();
    pickle_.outside();
    pickle_.number(tensor.storage_offset());
    tuple(tensor.sizes());
    tuple(tensor.strides());
    pickle_.boolean(tensor.requires_grad() && tensor.is_leaf());
    pickle_.global("collections", "OrderedDict");
    pickle_.begin_tuple();
    pickle_.end_tuple();
    pickle_.call();
    pickle_.end_tuple();
    pickle_.call();
  }

  const std::string& path_;
  const Site site_;
  PickleWriter pickle_;
  std::map<std::pair<const Storage*, DType>, size_t> keys_;
  std::vector<std::pair<Tensor, int64_t>> storages_;
};

}  // namespace

void save_torch(const std::string& path, const PlainValue& value, Site site) {
  const NoGradGuard no_grad;
  ValueWriter writer(path, site);
  writer.write(value);
  AtomicFile file("save_torch", path);
  ZipWriter zip(file, "save_torch", path);
  zip.add("archive/data.pkl", writer.finish(), "");
  zip.add("archive/byteorder", "little", "");
  for (size_t i = 0; i < writer.storages().size(); ++i) {
    const auto& [tensor, numel] = writer.storages()[i];
    const Tensor host = as_strided(tensor, {numel}, {1}, 0, site).cpu(site);
    zip.add(str("archive/data/", i), "",
            {static_cast<const char*>(numel ? host.data_ptr() : nullptr), static_cast<size_t>(numel) * size_of(host.dtype())});
  }
  zip.add("archive/version", "3\n", "");
  zip.finish();
  file.commit();
}

}  // namespace tandem::io
