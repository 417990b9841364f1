#include "golden.h"

namespace golden {

Reduction reduction(const Call& c) {
  const std::string name = c.text("reduction");
  if (name == "none") return Reduction::None;
  if (name == "sum") return Reduction::Sum;
  if (name == "batchmean") return Reduction::BatchMean;
  if (name == "mean") return Reduction::Mean;
  throw Error(name + " is not a valid value for reduction");
}

namespace {

/// A loss of an input and a target, with more parameters.
template <class F>
void loss(Table& table, const std::string& name, const std::string& parameters, F f) {
  table.add(("nn.functional." + name + "(input, target, " + parameters + ")").c_str(),
            [f](Call& c) { return Results(f(c, c.input(), c.tensor("target"))); });
}

constexpr const char* kOld = "size_average=None, reduce=None, reduction='mean'";

}  // namespace

void add_losses(Table& table) {
  const std::string old = kOld;
  const auto weight = [](const Call& c) { return c.tensor_or_none("weight"); };
  loss(table, "mse_loss", old + ", weight=None",
       [=](Call& c, const Tensor& x, const Tensor& y) { return mse_loss(x, y, {.reduction = reduction(c), .weight = weight(c)}); });
  loss(table, "l1_loss", old + ", weight=None",
       [=](Call& c, const Tensor& x, const Tensor& y) { return l1_loss(x, y, {.reduction = reduction(c), .weight = weight(c)}); });
  loss(table, "smooth_l1_loss", old + ", beta=1.0",
       [](Call& c, const Tensor& x, const Tensor& y) { return smooth_l1_loss(x, y, {.reduction = reduction(c), .beta = c.real("beta")}); });
  loss(table, "huber_loss", "reduction='mean', delta=1.0, weight=None", [=](Call& c, const Tensor& x, const Tensor& y) {
    return huber_loss(x, y, {.reduction = reduction(c), .delta = c.real("delta"), .weight = weight(c)});
  });
  loss(table, "binary_cross_entropy", "weight=None, " + old, [=](Call& c, const Tensor& x, const Tensor& y) {
    return binary_cross_entropy(x, y, {.weight = weight(c), .reduction = reduction(c)});
  });
  loss(table, "binary_cross_entropy_with_logits", "weight=None, " + old + ", pos_weight=None",
       [=](Call& c, const Tensor& x, const Tensor& y) {
         return binary_cross_entropy_with_logits(
             x, y, {.weight = weight(c), .reduction = reduction(c), .pos_weight = c.tensor_or_none("pos_weight")});
       });
  loss(table, "kl_div", old + ", log_target=False", [](Call& c, const Tensor& x, const Tensor& y) {
    return kl_div(x, y, {.reduction = reduction(c), .log_target = c.flag("log_target")});
  });
  loss(table, "poisson_nll_loss", "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'",
       [](Call& c, const Tensor& x, const Tensor& y) {
         return poisson_nll_loss(
             x, y, {.log_input = c.flag("log_input"), .full = c.flag("full"), .eps = c.real("eps"), .reduction = reduction(c)});
       });
  loss(table, "gaussian_nll_loss", "var, full=False, eps=1e-06, reduction='mean'", [](Call& c, const Tensor& x, const Tensor& y) {
    return c.with("var", [&](const Operand& var) {
      return gaussian_nll_loss(x, y, var, {.full = c.flag("full"), .eps = c.real("eps"), .reduction = reduction(c)});
    });
  });
  loss(table, "soft_margin_loss", old, [](Call& c, const Tensor& x, const Tensor& y) { return soft_margin_loss(x, y, {reduction(c)}); });
  loss(table, "hinge_embedding_loss", "margin=1.0, " + old, [](Call& c, const Tensor& x, const Tensor& y) {
    return hinge_embedding_loss(x, y, {.margin = c.real("margin"), .reduction = reduction(c)});
  });
  loss(table, "cross_entropy", "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0",
       [=](Call& c, const Tensor& x, const Tensor& y) {
         return cross_entropy(x, y,
                              {.weight = weight(c),
                               .ignore_index = c.integer("ignore_index"),
                               .reduction = reduction(c),
                               .label_smoothing = c.real("label_smoothing")});
       });
  loss(table, "nll_loss", "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
       [=](Call& c, const Tensor& x, const Tensor& y) {
         return nll_loss(x, y, {.weight = weight(c), .ignore_index = c.integer("ignore_index"), .reduction = reduction(c)});
       });
  loss(table, "multi_margin_loss", "p=1, margin=1.0, weight=None, " + old, [=](Call& c, const Tensor& x, const Tensor& y) {
    return multi_margin_loss(x, y, {.p = c.integer("p"), .margin = c.real("margin"), .weight = weight(c), .reduction = reduction(c)});
  });
  loss(table, "multilabel_margin_loss", old,
       [](Call& c, const Tensor& x, const Tensor& y) { return multilabel_margin_loss(x, y, {reduction(c)}); });
  loss(table, "multilabel_soft_margin_loss", "weight=None, " + old, [=](Call& c, const Tensor& x, const Tensor& y) {
    return multilabel_soft_margin_loss(x, y, {.weight = weight(c), .reduction = reduction(c)});
  });
  const auto margin = [](const Call& c) { return MarginLossOptions{.margin = c.real("margin"), .reduction = reduction(c)}; };
  table.add(("nn.functional.margin_ranking_loss(input1, input2, target, margin=0, " + old + ")").c_str(),
            [=](Call& c) { return margin_ranking_loss(c.tensor("input1"), c.tensor("input2"), c.tensor("target"), margin(c)); });
  table.add(("nn.functional.cosine_embedding_loss(input1, input2, target, margin=0, " + old + ")").c_str(),
            [=](Call& c) { return cosine_embedding_loss(c.tensor("input1"), c.tensor("input2"), c.tensor("target"), margin(c)); });
  table.add(("nn.functional.triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, " + old + ")").c_str(),
            [](Call& c) {
              return triplet_margin_loss(
                  c.tensor("anchor"), c.tensor("positive"), c.tensor("negative"),
                  {.margin = c.real("margin"), .p = c.real("p"), .eps = c.real("eps"), .swap = c.flag("swap"), .reduction = reduction(c)});
            });
  table.add("nn.functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False)",
            [](Call& c) {
              const CtcLossOptions options{
                  .blank = c.integer("blank"), .reduction = reduction(c), .zero_infinity = c.flag("zero_infinity")};
              const Tensor in = c.tensor("log_probs"), targets = c.tensor("targets");
              if (c.is_tensor("input_lengths"))
                return ctc_loss(in, targets, c.tensor("input_lengths"), c.tensor("target_lengths"), options);
              return ctc_loss(in, targets, c.ints("input_lengths"), c.ints("target_lengths"), options);
            });
}

}  // namespace golden
