// The archive that a .pt2 file is: its JSON, and its weights.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/file.h"
#include "io/zip.h"
#include "tensor/tensor.h"

namespace tandem::exported {

/// A tensor of the file's.
struct Weight {
  Tensor tensor;
  bool is_parameter = false;
};

class Archive {
 public:
  Archive(const char* op, const std::string& path);

  [[nodiscard]] const io::InputFile& file() const { return file_; }
  /// The name of the program to read: the one that there is, else "model".
  [[nodiscard]] std::string model() const;
  /// An entry that is JSON. Error that names it where it is none.
  [[nodiscard]] nlohmann::json json(const std::string& name) const;
  /// The tensors that a file of weights' or constants' names lists, by the names of the module's. Those that share memory entirely are one.
  [[nodiscard]] std::map<std::string, Weight> weights(const std::string& folder, const std::string& config, Site site) const;

 private:
  [[nodiscard]] const io::ZipEntry* find(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  struct Storages;
  [[nodiscard]] Weight weight(Storages& storages, const std::string& folder, const nlohmann::json& meta, Site site) const;
  [[nodiscard]] Tensor storage(Storages& storages, const std::string& name, DType dtype, Site site) const;

  io::InputFile file_;
  std::vector<io::ZipEntry> entries_;
  std::map<std::string, const io::ZipEntry*> named_;  // without the folder that all lie in
};

/// The dtype that a file's number names. Error for one that no tensor has.
[[nodiscard]] DType dtype_of_number(const nlohmann::json& number);

}  // namespace tandem::exported
