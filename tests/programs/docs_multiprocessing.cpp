// The snippets of docs/multiprocessing.md, as they stand there.
#include <tandem/tandem.h>

#include <iostream>

#include "check.h"

namespace td = tandem;
namespace mp = td::multiprocessing;

void add_one(int rank, td::Tensor shared) { shared.select(0, rank).add_(1); }

void work(mp::Queue<td::Tensor> queue, std::string text, int count) {
  for (int i = 0; i < count; ++i) queue.put(td::full({3}, 1.0 * i));
  if (text == "throw") throw std::runtime_error(text);
}

struct Net : td::nn::Module {
  td::nn::Linear fc{2, 1};
  void fields(td::nn::Fields& f) override { f("fc", fc); }
  td::Tensor forward(const td::Tensor& x) override { return fc(x); }
};

void train(int rank, Net model) {  // its parameters are the shared ones
  td::manual_seed(100 + rank);
  td::optim::SGD sgd(model.parameters(), {.lr = 0.05});
  for (int step = 0; step < 200; ++step) {
    const auto x = td::randn({16, 2});
    const auto y = (x * td::tensor({2.f, -3.4f})).sum(1, true) + 4.2;
    sgd.zero_grad();
    td::mse_loss(model(x), y).backward();
    sgd.step();  // Hogwild: without locks
  }
}

int main(int argc, char** argv) {
  mp::init(argc, argv);  // first: a worker begins here and never returns
  {
    auto shared = td::zeros({4}).share_memory_();
    mp::spawn(add_one, 4, shared);  // in four processes, with their ranks 0 to 3
    std::cout << shared << "\n";    // four ones
    CHECK(td::equal(shared, td::ones({4})));
  }
  {
    mp::Queue<td::Tensor> queue;
    mp::Process process(work, queue, "text", 5);
    process.start();
    for (int i = 0; i < 5; ++i) std::cout << queue.get() << "\n";
    process.join();
    if (const auto error = process.error()) std::cout << error->type() << ": " << error->text() << "\n";
    CHECK(process.exitcode() == 0);
    mp::Process failing(work, queue, "throw", 0);
    failing.start();
    failing.join();
    CHECK(failing.error()->type() == "std::runtime_error" && failing.error()->text() == "throw");
  }
  {
    Net model;
    model.share_memory();
    mp::spawn(train, 2, model);
    CHECK(td::allclose(model.fc.weight, td::tensor({{2.f, -3.4f}}), 0.05, 0.05));
  }
  return finish();
}
