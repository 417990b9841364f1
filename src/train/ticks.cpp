#include "train/ticks.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace tandem::train {

using tandem::detail::formatted;

std::vector<Tick> ticks(double low, double high, int most) {
  if (!std::isfinite(high - low) || !(low < high) || most < 1) return {};
  // Multiples are counted from a step that gives too many of them upwards. A hair is allowed for, so that 0.3 counts as a multiple of 0.1.
  const int first_power = static_cast<int>(std::floor(std::log10((high - low) / most))) - 1;
  for (int power = first_power;; ++power) {
    for (const int factor : {1, 2, 5}) {
      const double step = factor * std::pow(10.0, power), hair = 1e-9;
      const double first = std::ceil(low / step - hair), last = std::floor(high / step + hair);
      if (last - first + 1 > most) continue;
      std::vector<Tick> all;
      const bool plain = power >= -6 && std::max(std::fabs(low), std::fabs(high)) < 1e7;
      for (double number = first; number <= last; ++number) {
        const double at = number == 0 ? 0 : number * step;
        all.push_back({at, plain ? formatted("%.*f", std::max(0, -power), at) : short_number(at)});
      }
      return all;
    }
  }
}

bool finite(const Point& point) { return std::fabs(point.x) < 1e300 && std::fabs(point.y) < 1e300; }

std::string short_number(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0";  // -0, too
  if (size >= 1e5 || (size < 1e-4 && size > 0)) return formatted("%.*g", 3, value);
  return formatted("%.*g", size >= 100 && std::floor(size) == size ? 6 : 4, value);
}

std::string fixed_number(double value, int decimals) {
  std::string text = formatted("%.*f", decimals, value);
  if (text[0] == '-' && text.find_first_of("123456789inf") == std::string::npos) text.erase(0, 1);
  return text;
}

void AxisRange::add(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

AxisRange AxisRange::opened() const {
  if (low < high) return *this;
  if (low > high || (low >= 0 && low <= 1)) return {0, 1};
  const double room = std::fabs(low) / 2;
  return {low - room, low + room};
}

}  // namespace tandem::train
