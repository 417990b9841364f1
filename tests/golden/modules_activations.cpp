// Activations.
#include "modules.h"

namespace golden {

void add_activation_modules(Modules& table) {
  table.add("nn.CELU(alpha=1.0, inplace=False)", [](Call& c) { return built(nn::CELU(c.real("alpha"), c.flag("inplace"))); });
  table.add("nn.ELU(alpha=1.0, inplace=False)", [](Call& c) { return built(nn::ELU(c.real("alpha"), c.flag("inplace"))); });
  table.add("nn.GELU(approximate='none')", [](Call& c) { return built(nn::GELU(c.text("approximate"))); });
  table.add("nn.GLU(dim=-1)", [](Call& c) { return built(nn::GLU(c.integer("dim"))); });
  table.add("nn.Hardshrink(lambd=0.5)", [](Call& c) { return built(nn::Hardshrink(c.real("lambd"))); });
  table.add("nn.Hardsigmoid(inplace=False)", [](Call& c) { return built(nn::Hardsigmoid(c.flag("inplace"))); });
  table.add("nn.Hardswish(inplace=False)", [](Call& c) { return built(nn::Hardswish(c.flag("inplace"))); });
  table.add("nn.Hardtanh(min_val=-1.0, max_val=1.0, inplace=False)",
            [](Call& c) { return built(nn::Hardtanh(c.real("min_val"), c.real("max_val"), c.flag("inplace"))); });
  table.add("nn.LeakyReLU(negative_slope=0.01, inplace=False)",
            [](Call& c) { return built(nn::LeakyReLU(c.real("negative_slope"), c.flag("inplace"))); });
  table.add("nn.LogSigmoid()", [](Call&) { return built(nn::LogSigmoid()); });
  table.add("nn.LogSoftmax(dim)", [](Call& c) { return built(nn::LogSoftmax(c.integer("dim"))); });
  table.add("nn.Mish(inplace=False)", [](Call& c) { return built(nn::Mish(c.flag("inplace"))); });
  table.add("nn.PReLU(num_parameters=1, init=0.25)", [](Call& c) { return built(nn::PReLU(c.integer("num_parameters"), c.real("init"))); });
  table.add("nn.ReLU(inplace=False)", [](Call& c) { return built(nn::ReLU(c.flag("inplace"))); });
  table.add("nn.ReLU6(inplace=False)", [](Call& c) { return built(nn::ReLU6(c.flag("inplace"))); });
  table.add("nn.RReLU(lower=0.125, upper=0.3333333333333333, inplace=False)",
            [](Call& c) { return built(nn::RReLU(c.real("lower"), c.real("upper"), c.flag("inplace"))); });
  table.add("nn.SELU(inplace=False)", [](Call& c) { return built(nn::SELU(c.flag("inplace"))); });
  table.add("nn.Sigmoid()", [](Call&) { return built(nn::Sigmoid()); });
  table.add("nn.SiLU(inplace=False)", [](Call& c) { return built(nn::SiLU(c.flag("inplace"))); });
  table.add("nn.Softmax(dim)", [](Call& c) { return built(nn::Softmax(c.integer("dim"))); });
  table.add("nn.Softmax2d()", [](Call&) { return built(nn::Softmax2d()); });
  table.add("nn.Softmin(dim)", [](Call& c) { return built(nn::Softmin(c.integer("dim"))); });
  table.add("nn.Softplus(beta=1.0, threshold=20.0)", [](Call& c) { return built(nn::Softplus(c.real("beta"), c.real("threshold"))); });
  table.add("nn.Softshrink(lambd=0.5)", [](Call& c) { return built(nn::Softshrink(c.real("lambd"))); });
  table.add("nn.Softsign()", [](Call&) { return built(nn::Softsign()); });
  table.add("nn.Tanh()", [](Call&) { return built(nn::Tanh()); });
  table.add("nn.Tanhshrink()", [](Call&) { return built(nn::Tanhshrink()); });
  table.add("nn.Threshold(threshold, value, inplace=False)",
            [](Call& c) { return built(nn::Threshold(c.number("threshold"), c.number("value"), c.flag("inplace"))); });
}

}  // namespace golden
