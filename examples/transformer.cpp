// A small transformer learns to sort: it reads some numbers and writes them in order, one after another.
// The counterpart of PyTorch's C++ example "transformer".
//   transformer [STEPS]
#include <tandem/tandem.h>

#include <cstdlib>
#include <iostream>

namespace td = tandem;
namespace nn = td::nn;

constexpr int64_t kNumbers = 10, kLength = 6;  // the vocabulary, and how many are sorted
constexpr int64_t kBegin = kNumbers;           // the token that a sorted row begins with

/// Tokens in (n, t), and those after each of them out: (n, t, kNumbers).
struct Sorter : nn::Module {
  nn::Embedding tokens{kNumbers + 1, 64};
  nn::Embedding places{kLength, 64};
  nn::Transformer transformer{
      64, 4, {.num_encoder_layers = 2, .num_decoder_layers = 2, .dim_feedforward = 128, .dropout = 0, .batch_first = true}};
  nn::Linear output{64, kNumbers};

  void fields(nn::Fields& f) override {
    f("tokens", tokens);
    f("places", places);
    f("transformer", transformer);
    f("output", output);
  }
  td::Tensor embed(const td::Tensor& x) { return tokens(x) + places(td::arange(x.size(1), {.device = x.device()})); }
  using nn::Module::forward;
  td::Tensor forward(const td::Tensor& unsorted, const td::Tensor& sorted_so_far) {
    const auto mask = nn::Transformer::generate_square_subsequent_mask(sorted_so_far.size(1), {.device = unsorted.device()});
    return output(transformer(embed(unsorted), embed(sorted_so_far), {.tgt_mask = mask}));
  }
};

int main(int argc, char** argv) {
  td::manual_seed(0);
  const auto device = td::try_gpu();
  Sorter model;
  model.to(device);
  td::optim::AdamW optimizer(model.parameters(), {.lr = 2e-3});
  const int steps = argc > 1 ? std::atoi(argv[1]) : 400;
  for (int step = 1; step <= steps; ++step) {
    const auto unsorted = td::randint(kNumbers, {64, kLength}, {.device = device});
    const auto sorted = td::sort(unsorted, 1).values;
    const auto begin = td::full({64, 1}, kBegin, {.dtype = td::kInt64, .device = device});
    const auto logits = model.forward(unsorted, td::cat({begin, sorted.slice(1, 0, kLength - 1)}, 1));
    const auto loss = td::cross_entropy(logits.flatten(0, 1), sorted.flatten());
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(model.parameters(), 1);
    optimizer.step();
    if (step % 50 == 0) std::cout << "step " << step << ": loss " << loss.item<double>() << std::endl;
  }

  // Written one number at a time, each from those before it.
  const td::NoGradGuard no_grad;
  model.eval();
  const auto unsorted = td::randint(kNumbers, {1, kLength}, {.device = device});
  auto written = td::full({1, 1}, kBegin, {.dtype = td::kInt64, .device = device});
  for (int64_t i = 0; i < kLength; ++i) {
    const auto next = model.forward(unsorted, written).select(1, -1).argmax(1, true);
    written = td::cat({written, next}, 1);
  }
  std::cout << unsorted << "\nsorted:\n" << written.slice(1, 1) << "\n";
}
