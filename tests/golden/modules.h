// Golden cases of modules: a constructor's arguments to a module, and how it is called.
//
// A row is a constructor as PyTorch's documentation writes it and a function that builds the module:
//   table.add("nn.Softmax(dim)", [](Call& c) { return built(nn::Softmax(c.integer("dim"))); });
// A module that is called with more than one tensor, or that gives more than one, says how:
//   table.add("nn.Bilinear(…)", [](Call& c) { return built(nn::Bilinear(…), "(input1, input2)",
//                                                       [](nn::Bilinear& m, Call& c) { return m(c.tensor("input1"), c.tensor("input2"));
//                                                       });
//                                        });
#pragma once

#include <memory>

#include "golden.h"

namespace golden {

/// A module and its call, whose arguments bind to `forward`.
struct Built {
  std::shared_ptr<nn::Module> module;
  std::string forward;
  std::function<Results(Call&)> call;
};

/// One tensor to one tensor.
template <class M>
Built built(M module) {
  auto held = std::make_shared<M>(std::move(module));
  return {held, "(input)", [held](Call& c) { return Results((*held)(c.input())); }};
}
/// `call(module, arguments)` gives what Results are made of.
template <class M, class F>
Built built(M module, const std::string& forward, F call) {
  auto held = std::make_shared<M>(std::move(module));
  return {held, forward, [held, call](Call& c) { return Results(call(*held, c)); }};
}

using Modules = TableOf<Built>;

// The rows, by subject; each in modules_<subject>.cpp.
void add_activation_modules(Modules& table);
void add_convolution_modules(Modules& table);
void add_layer_modules(Modules& table);
void add_loss_modules(Modules& table);
void add_normalization_modules(Modules& table);
void add_pooling_modules(Modules& table);
void add_recurrent_modules(Modules& table);
void add_attention_modules(Modules& table);

}  // namespace golden
