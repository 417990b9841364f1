// A plug-in of another program: what it calls through C, while it is open.
#include <tandem/tandem.h>

namespace td = tandem;

/// The sum of a product's gradient, computed on the CPU and on the second virtual GPU: 2 * 64 * 64 * 64 where all is well, else -1.
extern "C" double computing_gradient() {
  try {
    double total = 0;
    for (const td::Device device : {td::cpu(), td::gpu(1)}) {
      const td::Tensor x = td::ones({64, 64}, {.device = device, .requires_grad = true});
      td::matmul(x, td::ones({64, 64}, {.device = device})).sum().backward();
      total += x.grad().sum().item<double>();
    }
    return total;
  } catch (const std::exception&) {
    return -1;
  }
}
