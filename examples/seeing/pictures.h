// What the versions of one program in docs/seeing.md have in common: made-up pictures in the host's memory, a network, and the time of a
// step.
#pragma once

#include <tandem/tandem.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>

namespace seeing {

namespace td = tandem;

constexpr int64_t kPixels = 3 * 64 * 64, kClasses = 10, kBatch = 128, kPictures = 24 * kBatch;

/// kPictures pictures, a row of bytes each, and their classes.
struct Pictures {
  td::Tensor pixels = td::randint(0, 256, {kPictures, kPixels}, {.dtype = td::kUInt8});
  td::Tensor classes = td::randint(kClasses, {kPictures});
};

struct Net : td::nn::Module {
  td::nn::Linear fc1{kPixels, 24};
  td::nn::Linear fc2{24, 24};
  td::nn::Linear fc3{24, kClasses};

  void fields(td::nn::Fields& f) override {
    f("fc1", fc1);
    f("fc2", fc2);
    f("fc3", fc3);
  }
  td::Tensor forward(const td::Tensor& x) override { return fc3(td::relu(fc2(td::relu(fc1(x))))); }
};

/// Runs `epoch`, which gives the mean loss, and prints the time of a step after the first epoch, which warms up. Arguments of the program:
/// the number of epochs, 3 unless given, and the name of a page that shows the GPUs' memory at the end.
template <class Epoch>
void run(int argc, char** argv, Epoch&& epoch) {
  const int epochs = std::max(2, argc > 1 ? std::atoi(argv[1]) : 3);
  if (argc > 2) td::cuda::memory::record_history();
  double seconds = 0;
  for (int i = 0; i < epochs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double loss = epoch();
    if (i > 0) seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i == 0 || i + 1 == epochs) std::cout << "epoch " << i + 1 << ": loss " << loss << "\n";
  }
  std::cout << std::fixed << std::setprecision(2) << seconds * 1000 / static_cast<double>((epochs - 1) * kPictures / kBatch)
            << " ms a step\n";
  if (argc > 2) td::cuda::memory::write_page(argv[2]);
}

}  // namespace seeing
