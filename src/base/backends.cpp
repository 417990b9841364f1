#include "base/backends.h"

namespace tandem::backends {

constinit std::atomic<bool> cuda::matmul::allow_tf32{false};
constinit std::atomic<bool> cudnn::enabled{true};
constinit std::atomic<bool> cudnn::allow_tf32{true};
constinit std::atomic<bool> cudnn::benchmark{false};
constinit std::atomic<bool> cudnn::deterministic{false};

}  // namespace tandem::backends
