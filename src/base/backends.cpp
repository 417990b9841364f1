#include "base/backends.h"

namespace tandem {
namespace {

constinit std::atomic<bool> deterministic_algorithms{false};

}  // namespace

void use_deterministic_algorithms(bool mode) { deterministic_algorithms.store(mode, std::memory_order_relaxed); }
bool are_deterministic_algorithms_enabled() { return deterministic_algorithms.load(std::memory_order_relaxed); }

namespace backends {

constinit std::atomic<bool> cuda::matmul::allow_tf32{false};
constinit std::atomic<bool> cudnn::enabled{true};
constinit std::atomic<bool> cudnn::allow_tf32{true};
constinit std::atomic<bool> cudnn::benchmark{false};
constinit std::atomic<bool> cudnn::deterministic{false};

}  // namespace backends
}  // namespace tandem
