// Losses.
#include "modules.h"

namespace golden {
namespace {

/// A loss of an input and a target.
template <class M>
Built loss(M module) {
  return built(std::move(module), "(input, target)", [](M& m, Call& c) { return m(c.input(), c.tensor("target")); });
}

}  // namespace

void add_loss_modules(Modules& table) {
  table.add("nn.MSELoss(size_average=None, reduce=None, reduction='mean')",
            [](Call& c) { return loss(nn::MSELoss({.reduction = reduction(c)})); });
  table.add("nn.CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)",
            [](Call& c) {
              return loss(nn::CrossEntropyLoss({.weight = c.tensor_or_none("weight"),
                                                .ignore_index = c.integer("ignore_index"),
                                                .reduction = reduction(c),
                                                .label_smoothing = c.real("label_smoothing")}));
            });
}

}  // namespace golden
