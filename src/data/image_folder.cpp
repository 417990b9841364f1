#include "data/image_folder.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "ops/creation.h"

namespace tandem::data {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

/// The pictures below a folder: those in it first, then those of its folders, each sorted by name.
std::vector<std::string> pictures_below(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> found;  // folder and name
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink))
    if (entry.is_regular_file() && is_picture(entry.path()))
      found.emplace_back(entry.path().parent_path().string(), entry.path().filename().string());
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (const auto& [parent, name] : found) paths.push_back((fs::path(parent) / name).string());
  return paths;
}

constexpr const char* kAdvice = "; give a folder with a folder of pictures for each class, as in FOLDER/cat/1.png";

}  // namespace

ImageFolder::ImageFolder(const std::string& root, ImageFolderOptions options, Site /*site*/) : options_(std::move(options)) {
  try {
    for (const auto& entry : fs::directory_iterator(root))
      if (entry.is_directory()) classes_.push_back(entry.path().filename().string());
    std::sort(classes_.begin(), classes_.end());
    for (size_t i = 0; i < classes_.size(); ++i) {
      const auto paths = pictures_below(fs::path(root) / classes_[i]);
      if (paths.empty()) fail("[ImageFolder] the class ", classes_[i], " in ", root, " has no picture: .png, .jpg or .jpeg");
      for (const std::string& path : paths) samples_.emplace_back(path, static_cast<int64_t>(i));
    }
  } catch (const fs::filesystem_error& error) {
    fail("[ImageFolder] cannot read ", error.path1().string(), ": ", error.code().message(), kAdvice);
  }
  if (classes_.empty()) fail("[ImageFolder] ", root, " has no folders: each is a class", kAdvice);
}

Sample ImageFolder::get(int64_t index) const {
  if (index < 0 || index >= size()) fail<IndexError>("[ImageFolder] index ", index, " is out of range for ", size(), " samples");
  const auto& [path, label] = samples_[static_cast<size_t>(index)];
  const Tensor image = read_image(path, options_.mode);
  if (!options_.transform) return {{image, tensor(label)}};
  return {{with_sample_generator(index, [&](Generator& generator) { return (*options_.transform)(image, generator); }), tensor(label)}};
}

}  // namespace tandem::data
