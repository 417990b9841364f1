#include "tools/did_you_mean.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tandem::tools {
namespace {

/// How many letters have to be put in, left out or changed to get from one to the other. Levenshtein's distance.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

bool is_misspelt(const std::string& given, const std::string& name) {
  return distance(given, name) <= std::min<size_t>(2, (name.size() + 1) / 3);
}
bool is_part(const std::string& given, const std::string& name) {
  return std::min(given.size(), name.size()) > 1 && (name.find(given) != std::string::npos || given.find(name) != std::string::npos);
}

}  // namespace

std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
  std::string near;
  for (const auto is_near : {is_misspelt, is_part}) {
    for (const std::string& name : names)
      if (is_near(given, name)) near += (near.empty() ? "; did you mean " : ", ") + name;
    if (!near.empty()) return near + "?";
  }
  return near;
}

}  // namespace tandem::tools
