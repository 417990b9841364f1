#include "golden.h"

namespace golden {

PerDim per_dim(const Call& c, const std::string& name) { return c.has(name) ? PerDim(c.ints(name)) : PerDim(); }

OutputSize output_size(const Call& c) {
  const Json& given = c.json("output_size");
  Shape sizes;
  for (const Json& v : given.is_array() ? given : Json::array({given})) sizes.push_back(v.is_null() ? OutputSize::kSame : v.get<int64_t>());
  return sizes;
}

ConvOptions conv_options(const Call& c, std::string& word) {
  ConvOptions options{.stride = per_dim(c, "stride"), .dilation = per_dim(c, "dilation"), .groups = c.integer("groups")};
  if (c.is_text("padding")) {
    word = c.text("padding");
    options.padding = word.c_str();
  } else {
    options.padding = ConvPadding(c.ints("padding"));
  }
  return options;
}

namespace {

template <class F>
void add_conv(Table& table, const std::string& dims, F f) {
  table.add("nn.functional.conv" + dims + "d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)", [f](Call& c) {
    std::string word;
    return f(c.input(), c.tensor("weight"), c.tensor_or_none("bias"), conv_options(c, word), Site::here());
  });
}

template <class F>
void add_conv_transpose(Table& table, const std::string& dims, F f) {
  table.add(
      ("nn.functional.conv_transpose" + dims + "d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)")
          .c_str(),
      [f](Call& c) {
        return f(c.input(), c.tensor("weight"), c.tensor_or_none("bias"),
                 ConvTransposeOptions{.stride = per_dim(c, "stride"),
                                      .padding = per_dim(c, "padding"),
                                      .output_padding = per_dim(c, "output_padding"),
                                      .groups = c.integer("groups"),
                                      .dilation = per_dim(c, "dilation")},
                 Site::here());
      });
}

template <class Plain, class Indexed>
void add_max_pool(Table& table, const std::string& dims, Plain plain, Indexed indexed) {
  table.add(
      ("nn.functional.max_pool" + dims + "d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)")
          .c_str(),
      [=](Call& c) -> Results {
        const MaxPoolOptions options{.stride = per_dim(c, "stride"),
                                     .padding = per_dim(c, "padding"),
                                     .dilation = per_dim(c, "dilation"),
                                     .ceil_mode = c.flag("ceil_mode")};
        if (c.flag("return_indices")) return indexed(c.input(), per_dim(c, "kernel_size"), options, Site::here());
        return plain(c.input(), per_dim(c, "kernel_size"), options, Site::here());
      });
}

template <class F>
void add_avg_pool(Table& table, const std::string& dims, F f) {
  table.add(("nn.functional.avg_pool" + dims +
             "d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)")
                .c_str(),
            [f](Call& c) {
              return f(c.input(), per_dim(c, "kernel_size"),
                       AvgPoolOptions{.stride = per_dim(c, "stride"),
                                      .padding = per_dim(c, "padding"),
                                      .ceil_mode = c.flag("ceil_mode"),
                                      .count_include_pad = c.flag("count_include_pad"),
                                      .divisor_override = c.integer_or_none("divisor_override")},
                       Site::here());
            });
}

template <class Mean, class Largest, class Indexed>
void add_adaptive(Table& table, const std::string& dims, Mean mean, Largest largest, Indexed indexed) {
  table.add("nn.functional.adaptive_avg_pool" + dims + "d(input, output_size)",
            [mean](Call& c) { return mean(c.input(), output_size(c), Site::here()); });
  table.add("nn.functional.adaptive_max_pool" + dims + "d(input, output_size, return_indices=False)", [=](Call& c) -> Results {
    if (c.flag("return_indices")) return indexed(c.input(), output_size(c), Site::here());
    return largest(c.input(), output_size(c), Site::here());
  });
}

template <class F>
void add_lp_pool(Table& table, const std::string& dims, F f) {
  table.add("nn.functional.lp_pool" + dims + "d(input, norm_type, kernel_size, stride=None, ceil_mode=False)", [f](Call& c) {
    return f(c.input(), c.real("norm_type"), per_dim(c, "kernel_size"),
             LpPoolOptions{.stride = per_dim(c, "stride"), .ceil_mode = c.flag("ceil_mode")}, Site::here());
  });
}

template <class F>
void add_max_unpool(Table& table, const std::string& dims, F f) {
  table.add("nn.functional.max_unpool" + dims + "d(input, indices, kernel_size, stride=None, padding=0, output_size=None)", [f](Call& c) {
    return f(c.input(), c.tensor("indices"), per_dim(c, "kernel_size"),
             MaxUnpoolOptions{.stride = per_dim(c, "stride"),
                              .padding = per_dim(c, "padding"),
                              .output_size = c.has("output_size") ? c.ints("output_size") : Shape()},
             Site::here());
  });
}

FoldOptions fold_options(const Call& c) {
  return {.dilation = per_dim(c, "dilation"), .padding = per_dim(c, "padding"), .stride = per_dim(c, "stride")};
}

}  // namespace

void add_convolution(Table& table) {
  add_conv(table, "1", conv1d);
  add_conv(table, "2", conv2d);
  add_conv(table, "3", conv3d);
  add_conv_transpose(table, "1", conv_transpose1d);
  add_conv_transpose(table, "2", conv_transpose2d);
  add_conv_transpose(table, "3", conv_transpose3d);
  add_max_pool(table, "1", max_pool1d, max_pool1d_with_indices);
  add_max_pool(table, "2", max_pool2d, max_pool2d_with_indices);
  add_max_pool(table, "3", max_pool3d, max_pool3d_with_indices);
  add_avg_pool(table, "1", avg_pool1d);
  add_avg_pool(table, "2", avg_pool2d);
  add_avg_pool(table, "3", avg_pool3d);
  add_adaptive(table, "1", adaptive_avg_pool1d, adaptive_max_pool1d, adaptive_max_pool1d_with_indices);
  add_adaptive(table, "2", adaptive_avg_pool2d, adaptive_max_pool2d, adaptive_max_pool2d_with_indices);
  add_adaptive(table, "3", adaptive_avg_pool3d, adaptive_max_pool3d, adaptive_max_pool3d_with_indices);
  add_lp_pool(table, "1", lp_pool1d);
  add_lp_pool(table, "2", lp_pool2d);
  add_lp_pool(table, "3", lp_pool3d);
  add_max_unpool(table, "1", max_unpool1d);
  add_max_unpool(table, "2", max_unpool2d);
  add_max_unpool(table, "3", max_unpool3d);
  table.add("nn.functional.unfold(input, kernel_size, dilation=1, padding=0, stride=1)",
            [](Call& c) { return unfold(c.input(), per_dim(c, "kernel_size"), fold_options(c)); });
  table.add("nn.functional.fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1)",
            [](Call& c) { return fold(c.input(), per_dim(c, "output_size"), per_dim(c, "kernel_size"), fold_options(c)); });
  table.add("nn.functional.pad(input, pad, mode='constant', value=None)",
            [](Call& c) { return pad(c.input(), c.ints("pad"), c.text("mode").c_str(), c.number_or_none("value")); });
  table.add("constant_pad_nd(input, pad, value=0)", [](Call& c) { return constant_pad_nd(c.input(), c.ints("pad"), c.number("value")); });
}

}  // namespace golden
