// Pooling and padding.
#include "modules.h"

namespace golden {
namespace {

template <class Max, class Avg, class AdaptiveMax, class AdaptiveAvg, class LP, class Unpool>
void add_pools(Modules& table, const std::string& dims) {
  table.add("nn.MaxPool" + dims + "(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)", [](Call& c) {
    Max pool(per_dim(c, "kernel_size"), {.stride = per_dim(c, "stride"),
                                         .padding = per_dim(c, "padding"),
                                         .dilation = per_dim(c, "dilation"),
                                         .ceil_mode = c.flag("ceil_mode")});
    if (!c.flag("return_indices")) return built(pool);
    return built(pool, "(input)", [](Max& m, Call& call) { return m.forward_with_indices(call.input()); });
  });
  table.add("nn.AvgPool" + dims + "(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)",
            [](Call& c) {
              return built(Avg(per_dim(c, "kernel_size"), {.stride = per_dim(c, "stride"),
                                                           .padding = per_dim(c, "padding"),
                                                           .ceil_mode = c.flag("ceil_mode"),
                                                           .count_include_pad = c.flag("count_include_pad"),
                                                           .divisor_override = c.integer_or_none("divisor_override")}));
            });
  table.add("nn.AdaptiveAvgPool" + dims + "(output_size)", [](Call& c) { return built(AdaptiveAvg(output_size(c))); });
  table.add("nn.AdaptiveMaxPool" + dims + "(output_size, return_indices=False)", [](Call& c) {
    AdaptiveMax pool(output_size(c));
    if (!c.flag("return_indices")) return built(pool);
    return built(pool, "(input)", [](AdaptiveMax& m, Call& call) { return m.forward_with_indices(call.input()); });
  });
  table.add("nn.LPPool" + dims + "(norm_type, kernel_size, stride=None, ceil_mode=False)", [](Call& c) {
    return built(LP(c.number("norm_type"), per_dim(c, "kernel_size"), {.stride = per_dim(c, "stride"), .ceil_mode = c.flag("ceil_mode")}));
  });
  table.add("nn.MaxUnpool" + dims + "(kernel_size, stride=None, padding=0)", [](Call& c) {
    return built(Unpool(per_dim(c, "kernel_size"), {.stride = per_dim(c, "stride"), .padding = per_dim(c, "padding")}),
                 "(input, indices, output_size=None)", [](Unpool& m, Call& call) {
                   return m(call.input(), call.tensor("indices"), call.has("output_size") ? call.ints("output_size") : Shape());
                 });
  });
}

template <class Constant, class Zero, class Reflection, class Replication, class Circular>
void add_pads(Modules& table, const std::string& dims) {
  table.add("nn.ConstantPad" + dims + "(padding, value)",
            [](Call& c) { return built(Constant(per_dim(c, "padding"), c.number("value"))); });
  table.add("nn.ZeroPad" + dims + "(padding)", [](Call& c) { return built(Zero(per_dim(c, "padding"))); });
  table.add("nn.ReflectionPad" + dims + "(padding)", [](Call& c) { return built(Reflection(per_dim(c, "padding"))); });
  table.add("nn.ReplicationPad" + dims + "(padding)", [](Call& c) { return built(Replication(per_dim(c, "padding"))); });
  table.add("nn.CircularPad" + dims + "(padding)", [](Call& c) { return built(Circular(per_dim(c, "padding"))); });
}

}  // namespace

void add_pooling_modules(Modules& table) {
  add_pools<nn::MaxPool1d, nn::AvgPool1d, nn::AdaptiveMaxPool1d, nn::AdaptiveAvgPool1d, nn::LPPool1d, nn::MaxUnpool1d>(table, "1d");
  add_pools<nn::MaxPool2d, nn::AvgPool2d, nn::AdaptiveMaxPool2d, nn::AdaptiveAvgPool2d, nn::LPPool2d, nn::MaxUnpool2d>(table, "2d");
  add_pools<nn::MaxPool3d, nn::AvgPool3d, nn::AdaptiveMaxPool3d, nn::AdaptiveAvgPool3d, nn::LPPool3d, nn::MaxUnpool3d>(table, "3d");
  add_pads<nn::ConstantPad1d, nn::ZeroPad1d, nn::ReflectionPad1d, nn::ReplicationPad1d, nn::CircularPad1d>(table, "1d");
  add_pads<nn::ConstantPad2d, nn::ZeroPad2d, nn::ReflectionPad2d, nn::ReplicationPad2d, nn::CircularPad2d>(table, "2d");
  add_pads<nn::ConstantPad3d, nn::ZeroPad3d, nn::ReflectionPad3d, nn::ReplicationPad3d, nn::CircularPad3d>(table, "3d");
}

}  // namespace golden
