// Losses.
#include "onnx/call.h"
#include "ops/loss/loss.h"
#include "ops/operators.h"
#include "ops/softmax.h"

namespace tandem::onnx {
namespace {

void give_loss(Call& call, const Tensor& logs) {
  const std::string name = call.text("reduction", "mean");
  if (name != "mean" && name != "sum" && name != "none") fail("its reduction '", name, "' is none of mean, sum and none");
  const Reduction reduction = name == "mean" ? Reduction::Mean : name == "sum" ? Reduction::Sum : Reduction::None;
  const Tensor target = call.in(1).to(kInt64, {}, call.site());
  call.give(nll_loss(logs, target,
                     {.weight = call.in_or_none(2), .ignore_index = call.integer("ignore_index", -100), .reduction = reduction},
                     call.site()));
}

void negative_log_likelihood(Call& call) { give_loss(call, call.in(0)); }

void softmax_cross_entropy(Call& call) {
  const Tensor logs = log_softmax(call.in(0), 1, call.site());
  give_loss(call, logs);
  if (call.wants(1)) call.give(logs);
}

constexpr OperatorRow kRows[] = {
    {"NegativeLogLikelihoodLoss", 12, negative_log_likelihood},
    {"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy},
};

}  // namespace

std::span<const OperatorRow> loss_operators() { return kRows; }

}  // namespace tandem::onnx
