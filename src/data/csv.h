// Tables of numbers as text.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tandem::data {

/// Options of read_csv(), in this order.
struct CsvOptions {
  bool header = true;  // the first line names the columns; without it they are "0", "1", …
  char delimiter = ',';
  std::vector<std::string> columns = {};     // the ones to read, in this order; all where empty
  std::vector<std::string> categories = {};  // columns of words, which are numbered in the order they first come
  // What stands for a field that is empty, NA, NaN, null or ?; nothing: that is an error.
  std::optional<double> missing = std::numeric_limits<double>::quiet_NaN();
  DType dtype = kFloat32;
};

/// What read_csv() has read.
struct CsvTable {
  std::vector<std::string> names;                              // of the columns
  Tensor values;                                               // (rows, columns)
  std::map<std::string, std::vector<std::string>> categories;  // of each column of words: what 0, 1, … stand for

  /// The column of that name, (rows): a view. Error that lists the names where there is none.
  [[nodiscard]] Tensor column(const std::string& name) const;
};

/// The numbers of a file, plain or gzip. A field may stand in double quotes, in which two stand for one; empty lines are left out. Error
/// for what is no number and for lines of different lengths: it names the file, the line and the column, both counted from 1.
[[nodiscard]] CsvTable read_csv(const std::string& path, const CsvOptions& options = {}, Site = Site::here());

}  // namespace tandem::data
