#include "net.h"

#include <cmath>
#include <limits>

namespace fuzz {
namespace {

constexpr int64_t kColumns = 8, kWords = 7;  // of rows and images; how many words there are

Tensor random_tensor(Draws& draws, const td::Shape& sizes, td::DType dtype, double scale) {
  const Tensor values = td::empty(sizes, td::kFloat64);
  auto* at = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) at[i] = draws.uniform() * scale;
  return values.to(dtype);
}

}  // namespace

td::DType dtype_of(const Cell& cell) { return cell.float32 ? td::kFloat32 : td::kFloat64; }

Block::Block(Sort given, int64_t width) : sort(given) {
  if (sort == Sort::LayerNorm) norm.emplace_back(td::Shape{width});
  else linear.emplace_back(width, width);
  if (sort == Sort::BatchNorm) batch_norm.emplace_back(width);
}

void Block::fields(td::nn::Fields& f) {
  f("linear", linear);
  f("norm", norm);
  f("batch_norm", batch_norm);
}

Tensor Block::forward(const Tensor& x) {
  switch (sort) {
    case Sort::Tanh: return td::tanh(linear[0](x));
    case Sort::Relu: return td::relu(linear[0](x));
    case Sort::Residual: return x + td::tanh(linear[0](x));
    case Sort::LayerNorm: return norm[0](x);
    default: return td::tanh(batch_norm[0](linear[0](x)));
  }
}

Net::Net(const Cell& cell) : head(1, 1) {
  Draws draws(cell.seed);
  constexpr int64_t kWidths[] = {6, 10, 72};  // of the last, a layer is a unit of its own in FullyShardedDataParallel
  const int64_t width = kWidths[draws.below(3)];
  stem = static_cast<Stem>(draws.below(cell.has(Option::Penalty) ? 2 : 3));
  if (stem == Stem::Rows) rows.emplace_back(kColumns, width);
  if (stem == Stem::Image) {
    image.emplace_back(2, 3, 2);
    rows.emplace_back(3, width);
  }
  if (stem == Stem::Tokens) tokens.emplace_back(kWords, width);
  const bool batch_norm = cell.has(Option::BatchNorm) || cell.has(Option::SyncBatchNorm);
  const int count = 2 + draws.below(3);
  for (int i = 0; i < count; ++i) {
    // The first two can be tied.
    auto sort = static_cast<Block::Sort>(draws.below(i < 2 ? 3 : 4));
    if (batch_norm && (i == 1 || draws.one_in(3))) sort = Block::Sort::BatchNorm;
    blocks.emplace_back(sort, width);
  }
  if (cell.has(Option::Shared)) blocks[1].linear[0].weight = blocks[0].linear[0].weight;
  if (cell.has(Option::Twice)) twice = draws.below(count);
  if (cell.has(Option::PartlyUsed)) some.emplace_back(width, width);
  if (cell.has(Option::Unused)) never.emplace_back(width, draws.one_in(2) ? 4 : 72);
  head = td::nn::Linear(width, kOutputs);
  spike = td::zeros({1}, {.requires_grad = true});
  to(dtype_of(cell));
  fill(cell.seed);
  if (cell.has(Option::Frozen)) {
    (rows.empty() ? static_cast<td::nn::ModuleBase&>(tokens[0]) : rows[0]).requires_grad_(false);
    blocks[static_cast<size_t>(draws.below(count))].requires_grad_(false);
    if (draws.one_in(2)) head.bias.requires_grad_(false);
  }
}

void Net::fields(td::nn::Fields& f) {
  f("rows", rows);
  f("image", image);
  f("tokens", tokens);
  f("blocks", blocks);
  f("some", some);
  f("never", never);
  f("head", head);
  f("spike", spike);
}

void Net::fill(uint64_t seed, bool all) {
  const td::NoGradGuard no_grad;
  Draws draws(seed + 77);
  for (const Tensor& parameter : parameters()) {
    const double terms = parameter.dim() > 1 ? static_cast<double>(parameter.numel() / parameter.size(0)) : 4;
    const Tensor values = random_tensor(draws, parameter.sizes(), parameter.dtype(), 1 / std::sqrt(terms));
    if (all || parameter.requires_grad()) parameter.copy_(values);
  }
}

Tensor Net::forward(const Tensor& x) {
  const Tensor flag = x.detach().narrow(1, 0, 1), rest = x.narrow(1, 1, kColumns);
  Tensor h;
  switch (stem) {
    case Stem::Rows: h = rows[0](rest); break;
    case Stem::Image: h = rows[0](td::tanh(image[0](rest.reshape({x.size(0), 2, 2, 2})).flatten(1))); break;
    default: h = tokens[0](rest.to(td::kInt64)).sum(1) * 0.3;
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    h = blocks[i](h);
    if (static_cast<int>(i) == twice) h = blocks[i](h);
  }
  if (!some.empty() && flag.sum().item<double>() > 0) h = h + td::tanh(some[0](h)) * flag;
  Tensor added = spike * 1.0;
  if (spikes && added.requires_grad())
    added.register_hook([](const Tensor& g) { return td::full_like(g, std::numeric_limits<double>::infinity()); });
  return head(h) + added;
}

Tensor inputs_of(const Cell& cell, const Net& net, int step, int micro, int64_t count) {
  Draws draws(cell.seed + static_cast<uint64_t>(1000 + step * 10 + micro));
  const Tensor x = random_tensor(draws, {count, 1 + kColumns}, td::kFloat64, 1);
  if (net.stem == Net::Stem::Tokens) x.copy_(((x + 1) * (0.5 * kWords)).floor());
  x.narrow(1, 0, 1).zero_();
  return x.to(dtype_of(cell));
}

Tensor targets_of(const Cell& cell, int step, int micro, int64_t count) {
  Draws draws(cell.seed + static_cast<uint64_t>(5000 + step * 10 + micro));
  return random_tensor(draws, {count, Net::kOutputs}, dtype_of(cell), 1);
}

}  // namespace fuzz
