// Layers with and without parameters.
#include "modules.h"

namespace golden {

void add_layer_modules(Modules& table) {
  table.add("nn.Linear(in_features, out_features, bias=True)",
            [](Call& c) { return built(nn::Linear(c.integer("in_features"), c.integer("out_features"), {.bias = c.flag("bias")})); });
  table.add("nn.Embedding(num_embeddings, embedding_dim, padding_idx=None)", [](Call& c) {
    return built(nn::Embedding(c.integer("num_embeddings"), c.integer("embedding_dim"), {.padding_idx = c.integer_or_none("padding_idx")}));
  });
}

}  // namespace golden
