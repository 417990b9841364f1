// Losses.
#include "modules.h"

namespace golden {
namespace {

/// A loss of an input and a target.
template <class M>
Built loss(M module) {
  return built(std::move(module), "(input, target)", [](M& m, Call& c) { return m(c.input(), c.tensor("target")); });
}
/// A loss of three tensors.
template <class M>
Built loss(M module, const char* first, const char* second, const char* third) {
  const std::string forward = std::string("(") + first + ", " + second + ", " + third + ")";
  return built(std::move(module), forward, [=](M& m, Call& c) { return m(c.tensor(first), c.tensor(second), c.tensor(third)); });
}

MarginLossOptions margin(const Call& c) { return {.margin = c.real("margin"), .reduction = reduction(c)}; }
Tensor weight(const Call& c) { return c.tensor_or_none("weight"); }

void add_losses_of_numbers(Modules& table) {
  const std::string old = "size_average=None, reduce=None, reduction='mean'";
  table.add("nn.L1Loss(" + old + ")", [](Call& c) { return loss(nn::L1Loss({.reduction = reduction(c)})); });
  table.add("nn.MSELoss(" + old + ")", [](Call& c) { return loss(nn::MSELoss({.reduction = reduction(c)})); });
  table.add("nn.SmoothL1Loss(" + old + ", beta=1.0)",
            [](Call& c) { return loss(nn::SmoothL1Loss({.reduction = reduction(c), .beta = c.real("beta")})); });
  table.add("nn.HuberLoss(reduction='mean', delta=1.0)",
            [](Call& c) { return loss(nn::HuberLoss({.reduction = reduction(c), .delta = c.real("delta")})); });
  table.add("nn.BCELoss(weight=None, " + old + ")",
            [](Call& c) { return loss(nn::BCELoss({.weight = weight(c), .reduction = reduction(c)})); });
  table.add("nn.BCEWithLogitsLoss(weight=None, " + old + ", pos_weight=None)", [](Call& c) {
    return loss(nn::BCEWithLogitsLoss({.weight = weight(c), .reduction = reduction(c), .pos_weight = c.tensor_or_none("pos_weight")}));
  });
  table.add("nn.KLDivLoss(" + old + ", log_target=False)",
            [](Call& c) { return loss(nn::KLDivLoss({.reduction = reduction(c), .log_target = c.flag("log_target")})); });
  table.add("nn.PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean')", [](Call& c) {
    return loss(
        nn::PoissonNLLLoss({.log_input = c.flag("log_input"), .full = c.flag("full"), .eps = c.real("eps"), .reduction = reduction(c)}));
  });
  table.add("nn.GaussianNLLLoss(full=False, eps=1e-06, reduction='mean')", [](Call& c) {
    return loss(nn::GaussianNLLLoss({.full = c.flag("full"), .eps = c.real("eps"), .reduction = reduction(c)}), "input", "target", "var");
  });
  table.add("nn.SoftMarginLoss(" + old + ")", [](Call& c) { return loss(nn::SoftMarginLoss({.reduction = reduction(c)})); });
  table.add("nn.HingeEmbeddingLoss(margin=1.0, " + old + ")",
            [](Call& c) { return loss(nn::HingeEmbeddingLoss({.margin = c.real("margin"), .reduction = reduction(c)})); });
  table.add("nn.MarginRankingLoss(margin=0.0, " + old + ")",
            [](Call& c) { return loss(nn::MarginRankingLoss(margin(c)), "input1", "input2", "target"); });
  table.add("nn.CosineEmbeddingLoss(margin=0.0, " + old + ")",
            [](Call& c) { return loss(nn::CosineEmbeddingLoss(margin(c)), "input1", "input2", "target"); });
  table.add("nn.TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False, " + old + ")", [](Call& c) {
    const TripletMarginLossOptions options{
        .margin = c.real("margin"), .p = c.real("p"), .eps = c.real("eps"), .swap = c.flag("swap"), .reduction = reduction(c)};
    return loss(nn::TripletMarginLoss(options), "anchor", "positive", "negative");
  });
}

void add_losses_of_classes(Modules& table) {
  const std::string old = "size_average=None, reduce=None, reduction='mean'";
  table.add("nn.CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)",
            [](Call& c) {
              return loss(nn::CrossEntropyLoss({.weight = weight(c),
                                                .ignore_index = c.integer("ignore_index"),
                                                .reduction = reduction(c),
                                                .label_smoothing = c.real("label_smoothing")}));
            });
  table.add("nn.NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean')", [](Call& c) {
    return loss(nn::NLLLoss({.weight = weight(c), .ignore_index = c.integer("ignore_index"), .reduction = reduction(c)}));
  });
  table.add("nn.MultiMarginLoss(p=1, margin=1.0, weight=None, " + old + ")", [](Call& c) {
    return loss(nn::MultiMarginLoss({.p = c.integer("p"), .margin = c.real("margin"), .weight = weight(c), .reduction = reduction(c)}));
  });
  table.add("nn.MultiLabelMarginLoss(" + old + ")", [](Call& c) { return loss(nn::MultiLabelMarginLoss({.reduction = reduction(c)})); });
  table.add("nn.MultiLabelSoftMarginLoss(weight=None, " + old + ")",
            [](Call& c) { return loss(nn::MultiLabelSoftMarginLoss({.weight = weight(c), .reduction = reduction(c)})); });
  table.add("nn.CTCLoss(blank=0, reduction='mean', zero_infinity=False)", [](Call& c) {
    return built(nn::CTCLoss({.blank = c.integer("blank"), .reduction = reduction(c), .zero_infinity = c.flag("zero_infinity")}),
                 "(log_probs, targets, input_lengths, target_lengths)", [](nn::CTCLoss& m, Call& c) {
                   const Tensor log_probs = c.tensor("log_probs"), targets = c.tensor("targets");
                   if (c.is_tensor("input_lengths")) return m(log_probs, targets, c.tensor("input_lengths"), c.tensor("target_lengths"));
                   return m(log_probs, targets, c.ints("input_lengths"), c.ints("target_lengths"));
                 });
  });
}

}  // namespace

void add_loss_modules(Modules& table) {
  add_losses_of_numbers(table);
  add_losses_of_classes(table);
}

}  // namespace golden
