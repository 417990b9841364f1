// A program of the installed package's user: builds with nothing but find_package(tandem) and prints one tensor.
#include <tandem/tandem.h>

#include <iostream>

int main() {
  const auto x = tandem::ones({2, 2});
  std::cout << x + x << "\n";
}
