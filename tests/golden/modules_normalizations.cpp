// Normalizations.
#include "modules.h"

namespace golden {
namespace {

template <class Options>
Options norm_options(const Call& c) {
  return {.eps = c.real("eps"),
          .momentum = real_or_none(c, "momentum"),
          .affine = c.flag("affine"),
          .track_running_stats = c.flag("track_running_stats"),
          .bias = c.flag("bias")};
}

constexpr const char* kBatch = "eps=0.00001, momentum=0.1, affine=True, track_running_stats=True, *, bias=True)";
constexpr const char* kInstance = "eps=0.00001, momentum=0.1, affine=False, track_running_stats=False, *, bias=True)";

template <class Norm, class Lazy, class Options>
void add(Modules& table, const std::string& name, const std::string& options) {
  table.add("nn." + name + "(num_features, " + options,
            [](Call& c) { return built(Norm(c.integer("num_features"), norm_options<Options>(c))); });
  table.add("nn.Lazy" + name + "(" + options, [](Call& c) { return built(Lazy(norm_options<Options>(c))); });
}

}  // namespace

void add_normalization_modules(Modules& table) {
  add<nn::BatchNorm1d, nn::LazyBatchNorm1d, nn::BatchNormOptions>(table, "BatchNorm1d", kBatch);
  add<nn::BatchNorm2d, nn::LazyBatchNorm2d, nn::BatchNormOptions>(table, "BatchNorm2d", kBatch);
  add<nn::BatchNorm3d, nn::LazyBatchNorm3d, nn::BatchNormOptions>(table, "BatchNorm3d", kBatch);
  add<nn::InstanceNorm1d, nn::LazyInstanceNorm1d, nn::InstanceNormOptions>(table, "InstanceNorm1d", kInstance);
  add<nn::InstanceNorm2d, nn::LazyInstanceNorm2d, nn::InstanceNormOptions>(table, "InstanceNorm2d", kInstance);
  add<nn::InstanceNorm3d, nn::LazyInstanceNorm3d, nn::InstanceNormOptions>(table, "InstanceNorm3d", kInstance);
  table.add("nn.LayerNorm(normalized_shape: ints, eps=0.00001, elementwise_affine=True, bias=True)", [](Call& c) {
    return built(nn::LayerNorm(c.ints("normalized_shape"),
                               {.eps = c.real("eps"), .elementwise_affine = c.flag("elementwise_affine"), .bias = c.flag("bias")}));
  });
  table.add("nn.GroupNorm(num_groups, num_channels, eps=0.00001, affine=True, bias=True)", [](Call& c) {
    return built(nn::GroupNorm(c.integer("num_groups"), c.integer("num_channels"),
                               {.eps = c.real("eps"), .affine = c.flag("affine"), .bias = c.flag("bias")}));
  });
  table.add("nn.RMSNorm(normalized_shape: ints, eps=None, elementwise_affine=True)", [](Call& c) {
    return built(
        nn::RMSNorm(c.ints("normalized_shape"), {.eps = real_or_none(c, "eps"), .elementwise_affine = c.flag("elementwise_affine")}));
  });
  table.add("nn.LocalResponseNorm(size, alpha=0.0001, beta=0.75, k=1.0)",
            [](Call& c) { return built(nn::LocalResponseNorm(c.integer("size"), c.real("alpha"), c.real("beta"), c.real("k"))); });
}

}  // namespace golden
