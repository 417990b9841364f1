#include "io/npy_header.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "io/named.h"

namespace tandem::io {
namespace {

struct DTypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array<DTypeName, 9> kNames = {{{kBool, "|b1"},
                                              {kUInt8, "|u1"},
                                              {kInt8, "|i1"},
                                              {kInt16, "<i2"},
                                              {kInt32, "<i4"},
                                              {kInt64, "<i8"},
                                              {kFloat16, "<f2"},
                                              {kFloat32, "<f4"},
                                              {kFloat64, "<f8"}}};

/// What elements of a type are that no tensor has.
std::string describe_other(const std::string& name) {
  const char kind = name.size() > 1 ? name[1] : ' ';
  const std::string type = str(" (type ", in_quotes(name), ")");
  switch (kind) {
    case 'O':
      return str("the elements are pickled Python objects", type, ", which are not read: save arrays of numbers, as with .astype('<f4')");
    case 'S':
    case 'a':
    case 'U':
      return str("the elements are text", type,
                 ", and no numbers: save a number for each, as numpy.unique(x, return_inverse=True) counts them");
    case 'M':
    case 'm': return str("the elements are dates or times", type, ", and no numbers: save them with .astype('<i8')");
    case 'c': return str("the numbers are complex", type, ": save their .real and .imag");
    case 'V': return str("the elements are bytes without a type", type, ", and no numbers: save them with .view('|u1')");
    default:
      return str("the numbers are of the type ", in_quotes(name),
                 ", which is none of bool, (u)int8, int16, int32, int64, float16, float32, float64",
                 kind == 'u' || kind == 'f' ? ": save them with .astype" : "");
  }
}

class Parser {
 public:
  Parser(std::string_view text, const std::function<void(const std::string&)>& bad) : rest_(text), bad_(bad) {}

  NpyHeader parse() {
    bool has_type = false, has_order = false, has_sizes = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_type) {
        type();
        has_type = true;
      } else if (key == "fortran_order" && !has_order) {
        header_.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_sizes) {
        header_.sizes = tuple();
        has_sizes = true;
      } else {
        bad(str("the header has the key ", in_quotes(key), " too much"));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) broken();
    if (!has_type || !has_order || !has_sizes) bad("the header lacks one of descr, fortran_order and shape");
    return std::move(header_);
  }

 private:
  [[noreturn]] void bad(const std::string& text) const {
    bad_(text);
    fail("[load_npy] ", text);
  }
  [[noreturn]] void broken() const { bad("the header is not the dictionary that NumPy writes"); }
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r')) rest_.remove_prefix(1);
  }
  [[nodiscard]] bool begins(char c) {
    skip_space();
    return rest_.starts_with(c);
  }
  bool accept(char c) {
    if (!begins(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken();
  }
  std::string quoted() {
    const char mark = accept('\'') ? '\'' : '"';
    if (mark == '"') expect('"');
    const size_t end = rest_.find(mark);
    if (end == std::string_view::npos || end > 100) broken();
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  /// A list or a tuple, with what is nested in it, as it stands there.
  std::string_view bracketed() {
    skip_space();
    int64_t depth = 0;
    char mark = 0;  // that closes a text
    for (size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (mark != 0) {
        if (c == mark) mark = 0;
      } else if (c == '\'' || c == '"') {
        mark = c;
      } else if (c == '[' || c == '(') {
        ++depth;
      } else if ((c == ']' || c == ')') && --depth == 0) {
        const std::string_view all = rest_.substr(0, i + 1);
        rest_.remove_prefix(i + 1);
        return all;
      }
    }
    broken();
  }
  void type() {
    if (begins('[') || begins('(')) {
      header_.other = str("the elements are records of several fields, ", shown(std::string(bracketed())),
                          ", and no numbers: save each field as an array, as in numpy.savez(path, a=x['a'])");
      return;
    }
    const std::string name = quoted();
    for (const auto& entry : kNames) {
      // A single byte has no order; numpy writes '|', other programs '<' or '='.
      if (name.size() != 3 || entry.name.substr(1) != std::string_view(name).substr(1)) continue;
      if (name[0] != '<' && name[0] != '=' && name[0] != '>' && (name[0] != '|' || name[2] != '1')) continue;
      header_.dtype = entry.dtype;
      header_.big_endian = name[0] == '>';
      return;
    }
    header_.other = describe_other(name);
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    broken();
  }
  int64_t number() {
    skip_space();
    int64_t value = 0;
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, rest_[digits] - '0', &value))
        bad("the header has a size that is too large to be counted");
      ++digits;
    }
    if (digits == 0) broken();
    rest_.remove_prefix(digits);
    if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // as Python 2 wrote it
    return value;
  }
  Shape tuple() {
    Shape sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(number());
      if (sizes.size() > static_cast<size_t>(kMaxDims)) bad(str("the array has more than the ", kMaxDims, " dimensions a tensor can have"));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  NpyHeader header_;
  std::string_view rest_;
  const std::function<void(const std::string&)>& bad_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::function<void(const std::string&)>& bad) { return Parser(text, bad).parse(); }

std::string make_npy_header(DType dtype, const Shape& shape) {
  constexpr size_t kAlignment = 64;
  const auto* const name = std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.dtype == dtype; });
  if (name == kNames.end()) return {};
  std::string sizes;
  for (const int64_t size : shape) sizes += str(sizes.empty() ? "" : " ", size, ",");
  if (shape.size() > 1) sizes.pop_back();
  std::string text = str("{'descr': '", name->name, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  const size_t before = kNpyMagic.size() + 4;
  text.append((kAlignment - (before + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  return str(kNpyMagic, '\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8), text);
}

}  // namespace tandem::io
