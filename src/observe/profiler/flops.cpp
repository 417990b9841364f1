#include "observe/profiler/flops.h"

#include <algorithm>
#include <array>

namespace tandem::profiler {
namespace {

constexpr std::array<std::string_view, 10> kProducts = {"addbmm", "addmm",  "addmv",  "baddbmm", "bmm",
                                                        "dot",    "linear", "matmul", "mm",      "mv"};

}  // namespace

int64_t flops_of(std::string_view op, const runtime::Accesses& accesses) {
  using runtime::Access;
  if (op == "add" || op == "mul") {
    const auto out = std::find_if(accesses.begin(), accesses.end(), [](const Access& access) { return access.kind == Access::Written; });
    return out == accesses.end() ? 0 : out->sizes.numel();
  }
  if (accesses.size() < 3) return 0;
  // What is written, and the two that are multiplied, in the order of kernels/entries.def.
  const Shape &out = accesses[0].sizes, &a = accesses[1].sizes, &b = accesses[2].sizes;
  if (std::binary_search(kProducts.begin(), kProducts.end(), op)) return a.empty() ? 0 : 2 * out.numel() * a.back();
  if (!op.starts_with("convolution")) return 0;
  const bool of_weight = op == "convolution_weight";
  const Shape &weight = of_weight ? out : b, &result = op == "convolution" ? out : a;
  return weight.empty() || weight[0] == 0 ? 0 : 2 * result.numel() * (weight.numel() / weight[0]);
}

}  // namespace tandem::profiler
