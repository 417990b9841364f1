// Layers with and without parameters.
#include "modules.h"

namespace golden {

void add_layer_modules(Modules& table) {
  table.add("nn.Linear(in_features, out_features, bias=True)",
            [](Call& c) { return built(nn::Linear(c.integer("in_features"), c.integer("out_features"), {.bias = c.flag("bias")})); });
  table.add("nn.Bilinear(in1_features, in2_features, out_features, bias=True)", [](Call& c) {
    return built(nn::Bilinear(c.integer("in1_features"), c.integer("in2_features"), c.integer("out_features"), {.bias = c.flag("bias")}),
                 "(input1, input2)", [](nn::Bilinear& m, Call& call) { return m(call.tensor("input1"), call.tensor("input2")); });
  });
  table.add("nn.Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False)",
            [](Call& c) {
              return built(nn::Embedding(c.integer("num_embeddings"), c.integer("embedding_dim"),
                                         {.padding_idx = c.integer_or_none("padding_idx"),
                                          .max_norm = real_or_none(c, "max_norm"),
                                          .norm_type = c.real("norm_type"),
                                          .scale_grad_by_freq = c.flag("scale_grad_by_freq")}));
            });
}

}  // namespace golden
