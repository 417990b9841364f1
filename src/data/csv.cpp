#include "data/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/number_in.h"
#include "io/file_kind.h"
#include "io/gzip.h"
#include "io/named.h"
#include "ops/creation.h"

namespace tandem::data {
namespace {

/// A field takes 32 bytes of memory, but only one of the file.
constexpr size_t kMostColumns = size_t{1} << 20;

/// The fields of a text, line by line.
class Lines {
 public:
  Lines(const std::string& text, const std::string& path, const CsvOptions& options)
      : text_(text),
        path_(path),
        delimiter_(options.delimiter),
        whitespace_(options.whitespace),
        comment_(options.comment),
        blanks_(options.whitespace          ? " \t"
                : options.delimiter == '\t' ? " "
                : options.delimiter == ' '  ? "\t"
                                            : " \t") {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
    for (int64_t i = 0; i < options.skip_lines && at_ < text_.size(); ++i) end_line();
  }

  /// Goes to the next line that is not empty; false at the end.
  bool next() {
    while (at_ < text_.size()) {
      line_ = next_line_;
      read_line();
      if (fields_.size() > 1 || !fields_[0].empty() || quoted_) return true;
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
    fields_.clear();
    quoted_ = false;
    if (whitespace_) skip_blanks();
    do {
      if (fields_.size() == kMostColumns) bad(" has more than ", kMostColumns, " fields");
      fields_.push_back(read_field());
    } while (next_field());
    end_line();
  }
  [[nodiscard]] bool at_end_of_line() const {
    return at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r' || (comment_ != '\0' && text_[at_] == comment_);
  }
  [[nodiscard]] bool at_delimiter() const { return whitespace_ ? text_[at_] == ' ' || text_[at_] == '\t' : text_[at_] == delimiter_; }
  /// Goes over what parts two fields; false at the end of the line.
  bool next_field() {
    if (whitespace_) {
      skip_blanks();
      return !at_end_of_line();
    }
    if (at_end_of_line()) return false;
    ++at_;
    return true;
  }
  /// Goes behind the end of the line.
  void end_line() {
    at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    if (at_ < text_.size()) at_ += text_.compare(at_, 2, "\r\n") == 0 ? 2 : 1;
    ++next_line_;
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks_, at_), text_.size()); }
  std::string read_field() {
    std::string field;
    const size_t begin = text_.find_first_not_of(blanks_, at_);
    if (begin != std::string::npos && text_[begin] == '"') {
      at_ = begin;
      quoted_ = true;
      read_quoted(field);
    } else {
      while (!at_end_of_line() && !at_delimiter()) field += text_[at_++];
      trim(field);
    }
    return field;
  }
  void read_quoted(std::string& field) {
    for (++at_;; ++at_) {
      if (at_ == text_.size()) bad(", column ", fields_.size() + 1, ": a quote is never closed");
      if (text_[at_] == '"') {
        if (text_.compare(at_, 2, "\"\"") != 0) break;
        ++at_;
      }
      if (text_[at_] == '\n' || (text_[at_] == '\r' && text_.compare(at_, 2, "\r\n") != 0)) ++next_line_;
      field += text_[at_];
    }
    ++at_;
    if (!whitespace_) skip_blanks();
    if (!at_end_of_line() && !at_delimiter()) bad(", column ", fields_.size() + 1, ": there is text after the closing quote");
  }
  static void trim(std::string& field) {
    const auto first = field.find_first_not_of(" \t"), last = field.find_last_not_of(" \t");
    field = first == std::string::npos ? std::string() : field.substr(first, last - first + 1);
  }

  const std::string& text_;
  const std::string& path_;
  char delimiter_;
  bool whitespace_;
  char comment_;
  std::string_view blanks_;  // that may stand before and behind a quoted field
  size_t at_ = 0;
  int64_t line_ = 0, next_line_ = 1;
  std::vector<std::string> fields_;
  bool quoted_ = false;  // the line has a field in quotes
};

bool is_missing(std::string_view field) {
  // Those of pandas, and ?.
  for (const std::string_view word : {"",     "NA",   "N/A", "NaN",      "nan",  "null", "NULL",   "?",       "None",    "n/a",
                                      "<NA>", "#N/A", "#NA", "#N/A N/A", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"})
    if (field == word) return true;
  return false;
}

/// What lies beyond float64 is infinite or 0, as strtod has it in the language of C.
double number_out_of_range(std::string_view field) {
  std::istringstream stream{std::string(field)};
  stream.imbue(std::locale::classic());
  double number = 0;
  stream >> number;
  return std::abs(number) == std::numeric_limits<double>::max() ? std::copysign(std::numeric_limits<double>::infinity(), number) : number;
}

std::optional<double> number_of(std::string_view field) {
  if (field.starts_with('+')) {
    field.remove_prefix(1);
    if (field.starts_with('-')) return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (end != field.data() + field.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return number_out_of_range(field);
  if (error != std::errc()) return std::nullopt;
  return number;
}

/// The columns' names, each once, as pandas has them: those that have none are numbered, and of those that come again each gets a number.
std::vector<std::string> names_of(std::vector<std::string> names) {
  std::vector<size_t> order, unnamed;
  for (size_t i = 0; i < names.size(); ++i) {
    (names[i].empty() ? unnamed : order).push_back(i);
    if (names[i].empty()) names[i] = str("Unnamed: ", i);
  }
  order.insert(order.end(), unnamed.begin(), unnamed.end());
  std::unordered_set<std::string> taken(names.begin(), names.end());
  std::unordered_map<std::string, size_t> counts;
  for (const size_t i : order) {
    size_t& count = counts[names[i]];
    if (count++ == 0) continue;
    std::string name;
    do name = str(names[i], '.', count++ - 1);
    while (!taken.insert(name).second);
    --count;
    names[i] = std::move(name);
  }
  return names;
}

/// An error that begins with `who` and lists the names.
[[noreturn]] void fail_unknown_column(const std::string& name, const std::vector<std::string>& names, const std::string& who) {
  constexpr size_t kMostListed = 50;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostListed); ++i) text += (i == 0 ? "" : ", ") + io::shown(names[i]);
  fail(who, "there is no column ", io::in_quotes(name), "; there is ", text, names.size() > kMostListed ? ", …" : "");
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

/// The values of a table, row by row: whole numbers are kept as such, since float64 does not have all of them.
class Values {
 public:
  Values(const CsvOptions& options, const std::string& who) : dtype_(options.dtype), missing_(options.missing) {
    whole_ = dtype_ != kBool && !is_floating(dtype_);
    if (whole_ && missing_ && !std::isnan(*missing_) && !whole_number(*missing_))
      fail(who, "what stands for a missing value must be a number that ", dtype_, " has, but is ", *missing_);
  }

  /// Adds what a line has in a column.
  void add(Column& column, const Lines& line) {
    const std::string& field = line.fields()[column.place];
    const auto bad = [&](const auto&... parts) { line.bad(", column ", column.place + 1, " (", io::shown(column.name), "): ", parts...); };
    if (is_missing(field)) {
      if (!missing_) bad("the value is missing");
      if (whole_ && std::isnan(*missing_)) bad("the value is missing, and ", dtype_, " has no nan: say in .missing what stands for it");
      return push(*missing_);
    }
    if (column.words) return push(static_cast<double>(column.categories.emplace(field, column.categories.size()).first->second));
    if (whole_) {
      const std::string_view digits = std::string_view(field).substr(field.starts_with('+') ? 1 : 0);
      if (const auto number = detail::number_in<int64_t>(digits); number && in_range(*number)) {
        whole_numbers_.push_back(*number);
        return;
      }
    }
    const auto number = number_of(field);
    if (!number) bad(io::in_quotes(field), " is not a number: name a column of words in .categories");
    if (whole_ && !whole_number(*number)) bad(io::in_quotes(field), " is no number that ", dtype_, " has: choose another .dtype");
    push(*number);
  }
  [[nodiscard]] Tensor table(int64_t width) {
    const auto from = [&](auto& values, DType dtype) {
      return from_blob(values.data(), {static_cast<int64_t>(values.size()) / width, width}, {.dtype = dtype}).to(dtype_, {.copy = true});
    };
    return whole_ ? from(whole_numbers_, kInt64) : from(numbers_, kFloat64);
  }

 private:
  [[nodiscard]] bool in_range(int64_t number) const {
    return visit(dtype_, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return std::in_range<T>(number);
      else return true;
    });
  }
  [[nodiscard]] bool whole_number(double number) const {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    return std::trunc(number) == number && number >= -kBeyond && number < kBeyond && in_range(static_cast<int64_t>(number));
  }
  void push(double number) {
    if (whole_) whole_numbers_.push_back(static_cast<int64_t>(number));
    else numbers_.push_back(number);
  }

  DType dtype_;
  std::optional<double> missing_;
  bool whole_ = false;
  std::vector<double> numbers_;
  std::vector<int64_t> whole_numbers_;
};

/// Error for a file that begins as no table does: with zeros, as another kind of file, or as a web page. Any other text may be one.
void check_text(std::string_view text, std::string_view path, const std::string& who) {
  const std::string_view start = text.substr(0, io::kKindBytes);
  if (start.empty()) return;
  const std::string mistaken = io::mistaken_for("a table of text", start, path);
  const bool page = mistaken.find("(HTML)") != std::string::npos;
  if (!mistaken.empty() && (page || !io::is_text(start))) fail(who, mistaken);
  if (const size_t zero = start.find('\0'); zero != std::string_view::npos) fail(who, "not a table of text: byte ", zero, " is 0");
}

/// Error for options that contradict each other.
void check_options(const CsvOptions& options, const std::string& who) {
  const auto special = [](char c) { return c == '"' || c == '\n' || c == '\r'; };
  if (special(options.delimiter)) fail(who, "a delimiter can be no quote and no end of a line");
  if (special(options.comment)) fail(who, "a comment can begin with no quote and no end of a line");
  const bool parts = options.whitespace ? options.comment == ' ' || options.comment == '\t' : options.comment == options.delimiter;
  if (options.comment != '\0' && parts) fail(who, "a comment cannot begin with what parts the columns");
  if (options.skip_lines < 0) fail(who, "skip_lines must be 0 or more, but is ", options.skip_lines);
}

}  // namespace

Tensor CsvTable::column(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail_unknown_column(name, names, "[CsvTable.column] ");
  return values.select(1, found - names.begin());
}

CsvTable read_csv(const std::string& path, const CsvOptions& options, Site /*site*/) {
  const std::string who = str("[read_csv] ", path, ": ");
  check_options(options, who);
  const std::string text = io::read_bytes("read_csv", path);
  check_text(text, path, who);
  Lines line(text, path, options);
  CsvTable table;
  if (!line.next()) fail(who, "the file has no lines");
  std::vector<std::string> all = line.fields();
  if (options.header) all = names_of(std::move(all));
  else
    for (size_t i = 0; i < all.size(); ++i) all[i] = std::to_string(i);
  table.names = options.columns.empty() ? all : options.columns;

  const Places in_line(all), in_table(table.names);
  std::vector<Column> columns;
  for (const std::string& name : table.names) columns.push_back({.place = in_line.of(name, who), .name = name});
  for (const std::string& name : options.categories) columns[in_table.of(name, who)].words = true;

  Values values(options, who);
  for (bool more = !options.header || line.next(); more; more = line.next()) {
    if (line.fields().size() != all.size()) line.bad(" has ", line.fields().size(), " fields, but the first one has ", all.size());
    for (Column& column : columns) values.add(column, line);
  }
  for (Column& column : columns) {
    if (!column.words) continue;
    auto& words = table.categories[column.name];
    words.resize(column.categories.size());
    for (const auto& [word, number] : column.categories) words[number] = word;
  }
  table.values = values.table(static_cast<int64_t>(columns.size()));
  return table;
}

}  // namespace tandem::data
