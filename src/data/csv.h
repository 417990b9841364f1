// Tables of numbers as text.
#pragma once

#include <cstdint>
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
  bool whitespace = false;                   // columns are parted by any number of spaces and tabs, in place of the delimiter
  int64_t skip_lines = 0;                    // at the beginning of the file, before the header
  char comment = '\0';                       // begins what is left out up to the end of its line, such as '#'; '\0': nothing does
  std::vector<std::string> columns = {};     // the ones to read, in this order; all where empty
  std::vector<std::string> categories = {};  // columns of words, which are numbered in the order they first come
  // What stands for a field that is empty or NA, NaN, null, None, n/a, #N/A, ? and so on; nothing: that is an error.
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

/// The numbers of a file, plain or gzip. Lines end with LF, CR LF or CR; empty ones are left out. A field may stand in double quotes, in
/// which two stand for one. As pandas.read_csv: the second column of a name gets a number, `price.1`, and one without a name is
/// `Unnamed: 3`, counted from 0; what stands for a missing value, and ?. Error for what is no number of `dtype` and for lines of different
/// lengths: it names the file, the line and the column, both counted from 1.
[[nodiscard]] CsvTable read_csv(const std::string& path, const CsvOptions& options = {}, Site = Site::here());

}  // namespace tandem::data
