// The layout is that of torch/export/pt2_archive: NAME/models/MODEL.json has the program, NAME/data/weights/ and NAME/data/constants/ have
// the bytes of each storage, and a MODEL_…_config.json each that says which tensor lies where.
#include "exported/archive.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/untrusted_json.h"
#include "io/file_kind.h"
#include "io/named.h"
#include "ops/creation.h"
#include "tensor/tensor_impl.h"

namespace tandem::exported {

using io::in_quotes;
using nlohmann::json;
using tandem::detail::whole_number;

namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kModels = "models/", kJson = ".json";
constexpr int64_t kStrided = 7;
constexpr uint64_t kMostCopies = 16;

/// A list of sizes, none of which is left open.
Shape numbers_of(const json& list) {
  Shape numbers;
  if (list.size() > static_cast<size_t>(kMaxDims))
    fail("it has ", list.size(), " dimensions, more than the ", kMaxDims, " a tensor can have");
  for (const json& item : list) {
    const auto number = whole_number<int64_t>(item.at("as_int"));
    if (number < 0) fail("it has a negative size or stride");
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

DType dtype_of_number(const json& number) {
  constexpr DType kAll[] = {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64};
  const auto value = whole_number<int64_t>(number);
  if (value >= 1 && value <= 8) return kAll[value - 1];
  if (value == 12) return kBool;
  if (value == 13) return kBFloat16;
  fail("the dtype ", value, " is none that a tensor has");
}

Archive::Archive(const char* op, const std::string& path) : file_(op, path) {
  constexpr const char* kWanted = "an exported program (.pt2)";
  if (file_.read(std::min<uint64_t>(file_.size(), 2), 0) != "PK") {
    const std::string mistaken = io::mistaken_for(kWanted, file_);
    file_.bad(mistaken.empty() ? str("not ", kWanted, ", or a damaged one") : mistaken);
  }
  entries_ = io::read_zip_directory(file_);
  bool older = false;
  for (const io::ZipEntry& entry : entries_) {
    older = older || entry.name == "serialized_exported_program.json";
    const size_t folder = entry.name.find('/');
    if (folder == std::string::npos) continue;
    if (!named_.emplace(entry.name.substr(folder + 1), &entry).second) file_.bad("has the entry ", in_quotes(entry.name), " twice");
  }
  if (older) file_.bad("an exported program as PyTorch before 2.8 wrote it: load it there and save it by a newer one");
  if (!find("archive_format") || text("archive_format") != "pt2") file_.bad("an archive, but not ", kWanted);
  if (find("byteorder") && text("byteorder") != "little") file_.bad("its numbers are big-endian");
}

const io::ZipEntry* Archive::find(const std::string& name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

std::string Archive::text(const std::string& name) const {
  const io::ZipEntry* const entry = find(name);
  if (!entry) file_.bad("has no entry ", in_quotes(name));
  if (entry->deflated) file_.bad("its entry ", in_quotes(name), " is compressed, which torch.export.save does not do");
  std::string bytes(entry->size, '\0');
  io::ZipEntryReader reader(file_, *entry);
  reader.read(bytes.data(), bytes.size());
  reader.finish();
  return bytes;
}

json Archive::json(const std::string& name) const {
  const std::string bytes = text(name);
  try {
    return tandem::detail::parse_json<nlohmann::json>(bytes, kDeepest);
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const Error& error) {
    file_.bad("its entry ", in_quotes(name), ": ", error.message());
  }
}

std::string Archive::model() const {
  std::vector<std::string> models;
  for (const auto& [name, entry] : named_)
    if (name.starts_with(kModels) && name.ends_with(kJson))
      models.push_back(name.substr(kModels.size(), name.size() - kModels.size() - kJson.size()));
  if (models.size() == 1) return models[0];
  if (std::find(models.begin(), models.end(), "model") != models.end()) return "model";
  file_.bad("has ", models.size(), " programs, none of which is called 'model': ", io::listed(models));
}

/// What has been read, each storage once.
struct Archive::Storages {
  std::map<std::pair<std::string, DType>, Tensor> read;
  uint64_t copied = 0;  // bytes of tensors that are parts of theirs
};

Tensor Archive::storage(Storages& storages, const std::string& name, DType dtype, Site site) const {
  Tensor& storage = storages.read[{name, dtype}];
  if (storage.defined()) return storage;
  const io::ZipEntry* const entry = find(name);
  if (!entry) fail("the archive has no entry ", in_quotes(name), " with its bytes");
  if (entry->deflated) fail("the entry ", in_quotes(name), " is compressed, which torch.export.save does not do");
  const auto elements = static_cast<int64_t>(entry->size / size_of(dtype));
  const Tensor made = empty({elements}, {.dtype = dtype}, site);
  io::ZipEntryReader reader(file_, *entry);
  if (elements > 0) reader.read(made.data_ptr(site), made.nbytes());
  reader.skip();
  reader.finish();
  if (dtype == kBool) {
    const auto* values = static_cast<const unsigned char*>(made.data_ptr(site));
    for (int64_t i = 0; i < elements; ++i)
      if (values[i] > 1) fail("it has the value ", static_cast<int>(values[i]), " in a bool");
  }
  return storage = made;
}

Weight Archive::weight(Storages& storages, const std::string& folder, const nlohmann::json& meta, Site site) const {
  if (meta.at("use_pickle").get<bool>() || meta.at("tensor_meta").is_null()) fail("it is an object of a class, which is not read");
  const nlohmann::json& facts = meta.at("tensor_meta");
  if (whole_number<int64_t>(facts.at("layout")) != kStrided) fail("it is sparse, which tandem's tensors are not");
  const DType dtype = dtype_of_number(facts.at("dtype"));
  const Shape sizes = numbers_of(facts.at("sizes")), strides = numbers_of(facts.at("strides"));
  const auto offset = whole_number<int64_t>(facts.at("storage_offset").at("as_int"));
  if (sizes.size() != strides.size() || offset < 0) fail("its sizes, strides and offset do not fit each other");

  const Tensor all = storage(storages, folder + meta.at("path_name").get<std::string>(), dtype, site);
  const int64_t elements = all.numel();
  // The last element that the tensor has, and how many it has: one that repeats elements may have many of few.
  int64_t last = offset, count = std::find(sizes.begin(), sizes.end(), 0) == sizes.end() ? 1 : 0;
  bool fits = true;
  for (size_t i = 0; i < sizes.size() && count != 0 && fits; ++i) {
    int64_t step = 0;
    fits = !__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) && !__builtin_add_overflow(last, step, &last) &&
           !__builtin_mul_overflow(count, sizes[i], &count);
  }
  if (!fits || (count > 0 && last >= elements) || count > elements)
    fail("its sizes ", sizes, " and strides ", strides, " lead out of the ", elements, " elements that the file has of it");

  const bool is_parameter = meta.at("is_param").get<bool>() && facts.at("requires_grad").get<bool>();
  if (count == 0) return {empty(sizes, {.dtype = dtype}, site), is_parameter};
  if (strides == contiguous_strides(sizes) && offset == 0 && count == elements) return {all.view(sizes, site).detach(), is_parameter};
  storages.copied += static_cast<uint64_t>(count) * size_of(dtype);
  if (storages.copied > kMostCopies * file_.size())
    fail("the parts that tensors are of others take ", kMostCopies, " times the file's size");
  return {all.as_strided(sizes, strides, offset, site).clone(site), is_parameter};
}

std::map<std::string, Weight> Archive::weights(const std::string& folder, const std::string& config, Site site) const {
  std::map<std::string, Weight> weights;
  if (!find(folder + config)) return weights;
  const nlohmann::json content = json(folder + config);
  Storages storages;
  std::map<std::string, const Weight*> known;  // a storage may be given to several names, whose tensor is one then
  for (const auto& [name, meta] : content.at("config").items()) {
    try {
      const std::string key = str(meta.at("path_name").get<std::string>(), ' ', meta.at("tensor_meta").dump());
      Weight& added = weights[name];
      const auto [place, is_new] = known.emplace(key, &added);
      added = is_new ? weight(storages, folder, meta, site) : *place->second;
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const Error& error) {
      file_.bad("the tensor ", in_quotes(name), ": ", error.message());
    }
  }
  return weights;
}

}  // namespace tandem::exported
