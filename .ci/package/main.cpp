// A user's program: builds against tandem however it was found, and prints one tensor and the version.
#include <tandem/tandem.h>

#include <cstring>
#include <iostream>

static_assert(tandem::kVersionMajor > 0 || tandem::kVersionMinor >= 1);

int main() {
  const auto x = tandem::ones({2, 2});
  std::cout << x + x << "\ntandem " << tandem::version() << "\n";
  return std::strcmp(tandem::version(), tandem::kVersion) == 0 ? 0 : 1;
}
