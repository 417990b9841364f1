#include "libtorch/serialize_archive.h"

#include <algorithm>
#include <string_view>

namespace torch::serialize {

OutputArchive OutputArchive::of(const IValue& value) {
  OutputArchive archive;
  archive.whole_ = value.plain();
  return archive;
}

void OutputArchive::write(const std::string& key, const IValue& value) { entries_.emplace_back(key, value.plain()); }

void OutputArchive::write(const std::string& key, const tandem::Tensor& tensor, bool /*is_buffer*/) {
  entries_.emplace_back(key, detail::plain(tensor));
}

void OutputArchive::write(const std::string& key, OutputArchive& nested) {
  for (auto& [name, value] : nested.entries_) entries_.emplace_back(key + "." + name, std::move(value));
  nested.entries_.clear();
}

void OutputArchive::save_to(const std::string& filename, tandem::Site site) { tandem::io::save_torch(filename, value(), site); }

void OutputArchive::save_to(std::ostream& stream, tandem::Site site) {
  const std::string bytes = detail::bytes_of(value(), site);
  if (!stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) tandem::fail("[save] the stream takes no more bytes");
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& writer, tandem::Site site) {
  const std::string bytes = detail::bytes_of(value(), site);
  for (size_t done = 0; done < bytes.size();) {
    const size_t taken = writer(bytes.data() + done, bytes.size() - done);
    if (taken == 0) tandem::fail("[save] the writer function took ", done, " of ", bytes.size(), " bytes and then none");
    done += taken;
  }
}

tandem::io::PlainValue OutputArchive::value() const {
  if (whole_) return *whole_;
  tandem::io::PlainValue::Pairs pairs;
  pairs.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) pairs.emplace_back(name, entry);
  return tandem::io::PlainValue::dict(std::move(pairs));
}

bool InputArchive::try_read(const std::string& key, IValue& value, tandem::Site) {
  const auto* found = find(key);
  if (found) value = IValue(*found);
  return found != nullptr;
}

bool InputArchive::try_read(const std::string& key, tandem::Tensor& tensor, bool /*is_buffer*/, tandem::Site site) {
  const auto* found = find(key);
  if (!found || (found->kind() != IValue::Kind::Tensor && !found->is_none())) return false;
  if (found->is_none() || !tensor.defined()) detail::take(*found, tensor);
  else take_over(tensor, found->to_tensor(), site);
  return true;
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive, tandem::Site) {
  const std::string prefix = prefix_ + key + ".";
  if (!has_names_with(prefix)) return false;
  archive.entries_ = entries_;
  archive.prefix_ = prefix;
  archive.is_missing_ = false;
  return true;
}

void InputArchive::read(const std::string& key, IValue& value, tandem::Site site) {
  if (!try_read(key, value, site)) fail_without("[load] the archive does not have a field with name '", key);
}

void InputArchive::read(const std::string& key, tandem::Tensor& tensor, bool is_buffer, tandem::Site site) {
  if (!try_read(key, tensor, is_buffer, site)) fail_without("[load] No such serialized tensor '", key);
}

void InputArchive::read(const std::string& key, InputArchive& archive, tandem::Site site) {
  if (try_read(key, archive, site)) return;
  archive.entries_ = entries_;
  archive.prefix_ = prefix_ + key + ".";
  archive.is_missing_ = true;
}

void InputArchive::operator()(const std::string& key, tandem::Tensor& tensor, bool is_buffer, tandem::Site site) {
  read(key, tensor, is_buffer, site);
}

std::vector<std::string> InputArchive::keys() const {
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

void InputArchive::load_from(const std::string& filename, std::optional<tandem::Device> device, tandem::Site site) {
  set(tandem::io::read_torch(filename, device.value_or(tandem::cpu()), site));
}

void InputArchive::load_from(std::istream& stream, std::optional<tandem::Device> device, tandem::Site site) {
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  stream.clear(stream.rdstate() & ~std::ios::failbit);  // it may be read again from its beginning
  set(detail::value_of(bytes, device.value_or(tandem::cpu()), site));
}

void InputArchive::load_from(const char* data, size_t size, std::optional<tandem::Device> device, tandem::Site site) {
  set(detail::value_of({data, size}, device.value_or(tandem::cpu()), site));
}

void InputArchive::load_from(const std::function<size_t(uint64_t position, void* to, size_t bytes)>& reader,
                             const std::function<size_t()>& size, std::optional<tandem::Device> device, tandem::Site site) {
  std::string bytes(size(), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const size_t given = reader(done, bytes.data() + done, bytes.size() - done);
    if (given == 0) tandem::fail("[load] the reader function gave ", done, " of ", bytes.size(), " bytes and then none");
    done += given;
  }
  set(detail::value_of(bytes, device.value_or(tandem::cpu()), site));
}

void InputArchive::set(const tandem::io::PlainValue& value) {
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

void InputArchive::add(Entries& entries, const std::string& name, const tandem::io::PlainValue& value) {
  if (!name.empty()) entries.try_emplace(name, Entry{entries.size(), value});
  if (value.kind() != IValue::Kind::Dict) return;
  for (const auto& [key, item] : value.pairs()) {
    std::string text = key.kind() == IValue::Kind::Text ? key.to_text() : tandem::str(key);
    add(entries, name.empty() ? std::move(text) : name + "." + text, item);
  }
}

const tandem::io::PlainValue* InputArchive::find(const std::string& key) const {
  if (!entries_) return nullptr;
  const auto found = entries_->find(prefix_ + key);
  return found == entries_->end() ? nullptr : &found->second.value;
}

bool InputArchive::has_names_with(const std::string& prefix) const {
  if (!entries_) return false;
  const auto at = entries_->lower_bound(prefix);
  return at != entries_->end() && at->first.starts_with(prefix);
}

void InputArchive::take_over(const tandem::Tensor& tensor, const tandem::Tensor& source, tandem::Site site) {
  const tandem::NoGradGuard no_grad;
  if (tensor.sizes() == source.sizes() && tensor.dtype() == source.dtype()) tensor.copy_(source, false, site);
  else tensor.set_data(source.to(tensor.device(), {}, site), site);
}

void InputArchive::fail_without(const char* message, const std::string& key) const {
  if (is_missing_) tandem::fail("[load] No such serialized submodule: '", prefix_.substr(0, prefix_.size() - 1), "'");
  tandem::fail(message, prefix_, key, "'; there is ", listed());
}

std::string InputArchive::listed() const {
  std::string text;
  size_t count = 0;
  for (const std::string& key : keys()) {
    if (++count > 20) return text + ", …";
    text += (count > 1 ? ", '" : "'") + key + "'";
  }
  return count == 0 ? "none" : text;
}

}  // namespace torch::serialize
