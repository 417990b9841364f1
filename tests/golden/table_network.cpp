// Normalization, resampling, looking up, attention, recurrent networks, dropout, distances.
#include "golden.h"

namespace golden {

std::optional<double> real_or_none(const Call& c, const char* name) {
  return c.has(name) ? std::optional<double>(c.real(name)) : std::nullopt;
}

namespace {

Results both(const RnnResult& r) { return {r.output, r.h_n}; }

InterpolateOptions interpolate_options(Call& c) {
  InterpolateOptions options;
  options.mode = c.text("mode");
  if (c.has("size")) options.size = c.ints("size");
  if (c.has("scale_factor")) {
    const Json& factor = c.json("scale_factor");
    options.scale_factor = factor.is_array() ? factor.get<std::vector<double>>() : std::vector<double>{factor.get<double>()};
  }
  if (c.has("align_corners")) options.align_corners = c.flag("align_corners");
  options.recompute_scale_factor = c.flag("recompute_scale_factor");
  options.antialias = c.flag("antialias");
  return options;
}

void add_normalizations(Table& table) {
  table.add("nn.functional.batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=0.00001)",
            [](Call& c) {
              return batch_norm(c.input(), c.tensor_or_none("running_mean"), c.tensor_or_none("running_var"),
                                {.weight = c.tensor_or_none("weight"),
                                 .bias = c.tensor_or_none("bias"),
                                 .training = c.flag("training"),
                                 .momentum = c.real("momentum"),
                                 .eps = c.real("eps")});
            });
  table.add(
      "nn.functional.instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, "
      "eps=0.00001)",
      [](Call& c) {
        return instance_norm(c.input(), {.running_mean = c.tensor_or_none("running_mean"),
                                         .running_var = c.tensor_or_none("running_var"),
                                         .weight = c.tensor_or_none("weight"),
                                         .bias = c.tensor_or_none("bias"),
                                         .use_input_stats = c.flag("use_input_stats"),
                                         .momentum = c.real("momentum"),
                                         .eps = c.real("eps")});
      });
  table.add("nn.functional.layer_norm(input, normalized_shape: ints, weight=None, bias=None, eps=0.00001)", [](Call& c) {
    return layer_norm(c.input(), c.ints("normalized_shape"), c.tensor_or_none("weight"), c.tensor_or_none("bias"), c.real("eps"));
  });
  table.add("nn.functional.group_norm(input, num_groups, weight=None, bias=None, eps=0.00001)", [](Call& c) {
    return group_norm(c.input(), c.integer("num_groups"), c.tensor_or_none("weight"), c.tensor_or_none("bias"), c.real("eps"));
  });
  table.add("nn.functional.rms_norm(input, normalized_shape: ints, weight=None, eps=None)",
            [](Call& c) { return rms_norm(c.input(), c.ints("normalized_shape"), c.tensor_or_none("weight"), real_or_none(c, "eps")); });
  table.add("nn.functional.local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0)",
            [](Call& c) { return local_response_norm(c.input(), c.integer("size"), c.real("alpha"), c.real("beta"), c.real("k")); });
  table.add("nn.functional.normalize(input, p=2.0, dim=1, eps=1e-12)",
            [](Call& c) { return normalize(c.input(), c.real("p"), c.integer("dim"), c.real("eps")); });
}

void add_resampling(Table& table) {
  table.add(
      "nn.functional.interpolate(input, size: ints=None, scale_factor=None, mode='nearest', align_corners=None, "
      "recompute_scale_factor=None, "
      "antialias=False)",
      [](Call& c) { return interpolate(c.input(), interpolate_options(c)); });
  table.add("nn.functional.pixel_shuffle(input, upscale_factor)",
            [](Call& c) { return pixel_shuffle(c.input(), c.integer("upscale_factor")); });
  table.add("nn.functional.pixel_unshuffle(input, downscale_factor)",
            [](Call& c) { return pixel_unshuffle(c.input(), c.integer("downscale_factor")); });
  table.add("nn.functional.channel_shuffle(input, groups)", [](Call& c) { return channel_shuffle(c.input(), c.integer("groups")); });
  table.add("nn.functional.grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=None)", [](Call& c) {
    return grid_sample(c.input(), c.tensor("grid"),
                       {.mode = c.text("mode"), .padding_mode = c.text("padding_mode"), .align_corners = c.flag("align_corners")});
  });
  table.add("grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)", [](Call& c) {
    return grid_sampler_2d(c.input(), c.tensor("grid"), c.integer("interpolation_mode"), c.integer("padding_mode"),
                           c.flag("align_corners"));
  });
  table.add("grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)", [](Call& c) {
    return grid_sampler_3d(c.input(), c.tensor("grid"), c.integer("interpolation_mode"), c.integer("padding_mode"),
                           c.flag("align_corners"));
  });
  table.add("nn.functional.affine_grid(theta, size: ints, align_corners=None)",
            [](Call& c) { return affine_grid(c.tensor("theta"), c.ints("size"), c.flag("align_corners")); });
}

void add_bags(Table& table) {
  // The sample inputs have the table first.
  table.add(
      "nn.functional.embedding_bag(weight, input, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean', "
      "sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None)",
      [](Call& c) {
        return embedding_bag(c.input(), c.tensor("weight"),
                             {.offsets = c.tensor_or_none("offsets"),
                              .max_norm = real_or_none(c, "max_norm"),
                              .norm_type = c.real("norm_type"),
                              .scale_grad_by_freq = c.flag("scale_grad_by_freq"),
                              .mode = c.text("mode"),
                              .per_sample_weights = c.tensor_or_none("per_sample_weights"),
                              .include_last_offset = c.flag("include_last_offset"),
                              .padding_idx = c.integer_or_none("padding_idx")});
      });
}

void add_attention(Table& table) {
  table.add(
      "nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, "
      "enable_gqa=False)",
      [](Call& c) {
        return scaled_dot_product_attention(c.tensor("query"), c.tensor("key"), c.tensor("value"),
                                            {.attn_mask = c.tensor_or_none("attn_mask"),
                                             .dropout_p = c.real("dropout_p"),
                                             .is_causal = c.flag("is_causal"),
                                             .scale = real_or_none(c, "scale"),
                                             .enable_gqa = c.flag("enable_gqa")});
      });
}

template <class F>
void add_plain_rnn(Table& table, const char* name, F f) {
  const std::string signature =
      std::string(name) + "(input, hx, params: Tensors, has_biases, num_layers, dropout, train, bidirectional, batch_first)";
  table.add(signature.c_str(), [f](Call& c) {
    return both(f(c.input(), c.tensor("hx"), c.tensors("params"), c.flag("has_biases"), c.integer("num_layers"), c.real("dropout"),
                  c.flag("train"), c.flag("bidirectional"), c.flag("batch_first"), Site::here()));
  });
}

template <class F>
void add_plain_cell(Table& table, const char* name, F f) {
  const std::string signature = std::string(name) + "(input, hx, w_ih, w_hh, b_ih=None, b_hh=None)";
  table.add(signature.c_str(), [f](Call& c) {
    return Results(
        f(c.input(), c.tensor("hx"), c.tensor("w_ih"), c.tensor("w_hh"), c.tensor_or_none("b_ih"), c.tensor_or_none("b_hh"), Site::here()));
  });
}

void add_recurrent(Table& table) {
  add_plain_rnn(table, "rnn_tanh", rnn_tanh);
  add_plain_rnn(table, "rnn_relu", rnn_relu);
  add_plain_rnn(table, "gru", gru);
  add_plain_cell(table, "rnn_tanh_cell", rnn_tanh_cell);
  add_plain_cell(table, "rnn_relu_cell", rnn_relu_cell);
  add_plain_cell(table, "gru_cell", gru_cell);
  table.add("lstm(input, hx: Tensors, params: Tensors, has_biases, num_layers, dropout, train, bidirectional, batch_first)", [](Call& c) {
    const LstmResult r = lstm(c.input(), c.tensors("hx"), c.tensors("params"), c.flag("has_biases"), c.integer("num_layers"),
                              c.real("dropout"), c.flag("train"), c.flag("bidirectional"), c.flag("batch_first"));
    return Results{r.output, r.h_n, r.c_n};
  });
  table.add("lstm_cell(input, hx: Tensors, w_ih, w_hh, b_ih=None, b_hh=None)", [](Call& c) {
    const LstmState r =
        lstm_cell(c.input(), c.tensors("hx"), c.tensor("w_ih"), c.tensor("w_hh"), c.tensor_or_none("b_ih"), c.tensor_or_none("b_hh"));
    return Results{r.h, r.c};
  });
}

void add_small(Table& table) {
  table.add("nn.functional.cosine_similarity(x1, x2, dim=1, eps=1e-8)",
            [](Call& c) { return cosine_similarity(c.tensor("x1"), c.tensor("x2"), c.integer("dim"), c.real("eps")); });
  table.add("nn.functional.pairwise_distance(x1, x2, p=2.0, eps=0.000001, keepdim=False)",
            [](Call& c) { return pairwise_distance(c.tensor("x1"), c.tensor("x2"), c.real("p"), c.real("eps"), c.flag("keepdim")); });
  table.add("nn.functional.dropout(input, p=0.5, training=True, inplace=False)",
            [](Call& c) { return dropout(c.input(), c.real("p"), c.flag("training")); });
  table.add("nn.functional.dropout1d(input, p=0.5, training=True, inplace=False)",
            [](Call& c) { return dropout1d(c.input(), c.real("p"), c.flag("training")); });
  table.add("nn.functional.dropout2d(input, p=0.5, training=True, inplace=False)",
            [](Call& c) { return dropout2d(c.input(), c.real("p"), c.flag("training")); });
  table.add("nn.functional.dropout3d(input, p=0.5, training=True, inplace=False)",
            [](Call& c) { return dropout3d(c.input(), c.real("p"), c.flag("training")); });
  table.add("nn.functional.alpha_dropout(input, p=0.5, training=False, inplace=False)",
            [](Call& c) { return alpha_dropout(c.input(), c.real("p"), c.flag("training")); });
  table.add("nn.functional.feature_alpha_dropout(input, p=0.5, training=False, inplace=False)",
            [](Call& c) { return feature_alpha_dropout(c.input(), c.real("p"), c.flag("training")); });
}

}  // namespace

void add_network(Table& table) {
  add_normalizations(table);
  add_resampling(table);
  add_bags(table);
  add_attention(table);
  add_recurrent(table);
  add_small(table);
}

}  // namespace golden
