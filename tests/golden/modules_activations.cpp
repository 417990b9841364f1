// Activations.
#include "modules.h"

namespace golden {

void add_activation_modules(Modules& table) {
  table.add("nn.ReLU()", [](Call&) { return built(nn::ReLU()); });
  table.add("nn.Tanh()", [](Call&) { return built(nn::Tanh()); });
  table.add("nn.Sigmoid()", [](Call&) { return built(nn::Sigmoid()); });
  table.add("nn.Softmax(dim)", [](Call& c) { return built(nn::Softmax(c.integer("dim"))); });
  table.add("nn.LogSoftmax(dim)", [](Call& c) { return built(nn::LogSoftmax(c.integer("dim"))); });
}

}  // namespace golden
