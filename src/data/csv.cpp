#include "data/csv.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "io/gzip.h"
#include "ops/creation.h"

namespace tandem::data {
namespace {

/// A field takes 32 bytes of memory, but only one of the file.
constexpr size_t kMostColumns = size_t{1} << 20;

/// The fields of a text, line by line.
class Lines {
 public:
  Lines(const std::string& text, const std::string& path, char delimiter)
      : text_(text),
        path_(path),
        delimiter_(delimiter),
        blanks_(delimiter == '\t'  ? " "
                : delimiter == ' ' ? "\t"
                                   : " \t") {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
  }

  /// Goes to the next line that is not empty; false at the end.
  bool next() {
    while (at_ < text_.size()) {
      line_ = next_line_;
      fields_.clear();
      read_line();
      if (fields_.size() > 1 || !fields_[0].empty()) return true;
    }
    return false;
  }
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  /// Throws what is wrong with the line, or with a field of it.
  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    fail("[read_csv] ", path_, ": line ", line_, parts...);
  }

 private:
  void read_line() {
    do {
      if (fields_.size() == kMostColumns) bad(" has more than ", kMostColumns, " fields");
      fields_.push_back(read_field());
    } while (at_ < text_.size() && text_[at_++] == delimiter_);
    if (at_ > 0 && text_[at_ - 1] == '\n') ++next_line_;
  }
  [[nodiscard]] bool at_end_of_line() const { return at_ == text_.size() || text_[at_] == '\n' || text_.compare(at_, 2, "\r\n") == 0; }
  std::string read_field() {
    std::string field;
    const size_t begin = text_.find_first_not_of(blanks_, at_);
    if (begin != std::string::npos && text_[begin] == '"') {
      at_ = begin;
      read_quoted(field);
    } else {
      while (!at_end_of_line() && text_[at_] != delimiter_) field += text_[at_++];
      trim(field);
    }
    if (at_end_of_line() && at_ < text_.size() && text_[at_] == '\r') ++at_;
    return field;
  }
  void read_quoted(std::string& field) {
    for (++at_;; ++at_) {
      if (at_ == text_.size()) bad(", column ", fields_.size() + 1, ": a quote is never closed");
      if (text_[at_] == '"') {
        if (text_.compare(at_, 2, "\"\"") != 0) break;
        ++at_;
      }
      if (text_[at_] == '\n') ++next_line_;
      field += text_[at_];
    }
    ++at_;
    at_ = std::min(text_.find_first_not_of(blanks_, at_), text_.size());
    if (!at_end_of_line() && text_[at_] != delimiter_) bad(", column ", fields_.size() + 1, ": there is text after the closing quote");
  }
  static void trim(std::string& field) {
    const auto first = field.find_first_not_of(" \t\r"), last = field.find_last_not_of(" \t\r");
    field = first == std::string::npos ? std::string() : field.substr(first, last - first + 1);
  }

  const std::string& text_;
  const std::string& path_;
  char delimiter_;
  std::string_view blanks_;  // that may stand before and behind a quoted field
  size_t at_ = 0;
  int64_t line_ = 0, next_line_ = 1;
  std::vector<std::string> fields_;
};

bool is_missing(std::string_view field) {
  for (const std::string_view word : {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"})
    if (field == word) return true;
  return false;
}

std::optional<double> number_of(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return number;
}

/// An error that begins with `who` and lists the names.
[[noreturn]] void fail_unknown_column(const std::string& name, const std::vector<std::string>& names, const std::string& who) {
  constexpr size_t kMostListed = 50;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostListed); ++i) text += (i == 0 ? "" : ", ") + names[i];
  fail(who, "there is no column '", name, "'; there is ", text, names.size() > kMostListed ? ", …" : "");
}

/// Where each name stands; where one comes twice, the first of them.
class Places {
 public:
  explicit Places(const std::vector<std::string>& names) : names_(names) {
    for (size_t i = 0; i < names.size(); ++i) places_.emplace(names[i], i);
  }
  /// Error that begins with `who` where there is no such.
  [[nodiscard]] size_t of(const std::string& name, const std::string& who) const {
    const auto found = places_.find(name);
    if (found == places_.end()) fail_unknown_column(name, names_, who);
    return found->second;
  }

 private:
  const std::vector<std::string>& names_;
  std::unordered_map<std::string_view, size_t> places_;
};

/// A column to read.
struct Column {
  size_t place;  // among the line's fields
  std::string name;
  bool words = false;  // not numbers
  std::unordered_map<std::string, size_t> categories = {};
};

double value_of(Column& column, const Lines& line, const std::optional<double>& missing) {
  const std::string& field = line.fields()[column.place];
  const auto bad = [&](const auto&... parts) { line.bad(", column ", column.place + 1, " (", column.name, "): ", parts...); };
  if (is_missing(field)) {
    if (!missing) bad("the value is missing");
    return *missing;
  }
  if (column.words) return static_cast<double>(column.categories.emplace(field, column.categories.size()).first->second);
  const auto number = number_of(field);
  if (!number) bad("'", field, "' is not a number: name a column of words in .categories");
  return *number;
}

}  // namespace

Tensor CsvTable::column(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail_unknown_column(name, names, "[CsvTable.column] ");
  return values.select(1, found - names.begin());
}

CsvTable read_csv(const std::string& path, const CsvOptions& options, Site /*site*/) {
  if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r')
    fail("[read_csv] ", path, ": a delimiter can be no quote and no end of a line");
  const std::string text = io::read_bytes("read_csv", path);
  Lines line(text, path, options.delimiter);
  CsvTable table;
  if (!line.next()) fail("[read_csv] ", path, ": the file has no lines");
  std::vector<std::string> all = line.fields();
  if (!options.header)
    for (size_t i = 0; i < all.size(); ++i) all[i] = std::to_string(i);
  table.names = options.columns.empty() ? all : options.columns;

  const std::string who = str("[read_csv] ", path, ": ");
  const Places in_line(all), in_table(table.names);
  std::vector<Column> columns;
  for (const std::string& name : table.names) columns.push_back({.place = in_line.of(name, who), .name = name});
  for (const std::string& name : options.categories) columns[in_table.of(name, who)].words = true;

  std::vector<double> values;
  for (bool more = !options.header || line.next(); more; more = line.next()) {
    if (line.fields().size() != all.size()) line.bad(" has ", line.fields().size(), " fields, but the first one has ", all.size());
    for (Column& column : columns) values.push_back(value_of(column, line, options.missing));
  }
  for (Column& column : columns) {
    if (!column.words) continue;
    auto& words = table.categories[column.name];
    words.resize(column.categories.size());
    for (const auto& [word, number] : column.categories) words[number] = word;
  }
  const auto width = static_cast<int64_t>(columns.size());
  table.values =
      from_blob(values.data(), {static_cast<int64_t>(values.size()) / width, width}, {.dtype = kFloat64}).to(options.dtype, {.copy = true});
  return table;
}

}  // namespace tandem::data
