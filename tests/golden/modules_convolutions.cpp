// Convolutions.
#include "modules.h"

namespace golden {
namespace {

constexpr const char* kOptions = "stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode='zeros')";
constexpr const char* kTransposedOptions = "stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros')";

nn::ConvOptions options(const Call& c) {
  std::string word;  // the module keeps none of it
  const ConvOptions common = conv_options(c, word);
  nn::ConvOptions options{.stride = common.stride,
                          .dilation = common.dilation,
                          .groups = common.groups,
                          .bias = c.flag("bias"),
                          .padding_mode = c.text("padding_mode")};
  options.padding = word.empty() ? common.padding : ConvPadding(word == "same" ? "same" : "valid");
  return options;
}

nn::ConvTransposeOptions transposed_options(const Call& c) {
  return {.stride = per_dim(c, "stride"),
          .padding = per_dim(c, "padding"),
          .output_padding = per_dim(c, "output_padding"),
          .groups = c.integer("groups"),
          .bias = c.flag("bias"),
          .dilation = per_dim(c, "dilation")};
}

/// Rows for a kind of convolution and its lazy form.
template <class Conv, class Lazy, class Options>
void add(Modules& table, const std::string& name, const std::string& options_text, Options options) {
  table.add("nn." + name + "(in_channels, out_channels, kernel_size, " + options_text, [options](Call& c) {
    return built(Conv(c.integer("in_channels"), c.integer("out_channels"), per_dim(c, "kernel_size"), options(c)));
  });
  table.add("nn.Lazy" + name + "(out_channels, kernel_size, " + options_text,
            [options](Call& c) { return built(Lazy(c.integer("out_channels"), per_dim(c, "kernel_size"), options(c))); });
}

}  // namespace

void add_convolution_modules(Modules& table) {
  add<nn::Conv1d, nn::LazyConv1d>(table, "Conv1d", kOptions, options);
  add<nn::Conv2d, nn::LazyConv2d>(table, "Conv2d", kOptions, options);
  add<nn::Conv3d, nn::LazyConv3d>(table, "Conv3d", kOptions, options);
  add<nn::ConvTranspose1d, nn::LazyConvTranspose1d>(table, "ConvTranspose1d", kTransposedOptions, transposed_options);
  add<nn::ConvTranspose2d, nn::LazyConvTranspose2d>(table, "ConvTranspose2d", kTransposedOptions, transposed_options);
  add<nn::ConvTranspose3d, nn::LazyConvTranspose3d>(table, "ConvTranspose3d", kTransposedOptions, transposed_options);
}

}  // namespace golden
