// env: TANDEM_VIRTUAL_GPUS=2x256MiB
// The snippets of docs/data.md, docs/io.md and docs/train.md, as they stand there.
#include <tandem/tandem.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "check.h"

namespace td = tandem;

namespace {

struct Squares : td::data::Dataset {
  int64_t size() const override { return 100; }
  td::data::Sample get(int64_t i) const override { return {{td::tensor(double(i)), td::tensor(double(i * i))}}; }
};

struct Net : td::train::Classifier {  // cross-entropy, and accuracy as "val_acc"
  td::nn::Sequential net{td::nn::Flatten(), td::nn::LazyLinear(128), td::nn::ReLU(), td::nn::Linear(128, 10)};
  void fields(td::nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
    return td::optim::make<td::optim::Adam>(parameters(), {.lr = 3e-3});
  }
};

void data() {
  const auto X = td::randn({1000, 8});
  const auto y = td::randint(3, {1000});
  td::data::TensorDataset all({X, y});  // holds the tensors, copies nothing
  td::data::DataLoader loader(all.subset(0, 900), {.batch_size = 32, .shuffle = true, .seed = 1});

  int64_t batches = 0, samples = 0;
  for (const auto& [inputs, labels] : loader) {  // one epoch; the next loop is the next one
    CHECK(inputs.sizes() == td::Shape({++batches < 29 ? 32 : 4, 8}));
    samples += labels.size(0);
  }
  CHECK(batches == 29 && loader.size() == 29 && samples == 900);

  td::data::DataLoader ahead(all, {.batch_size = 32, .shuffle = true, .num_workers = 4, .device = td::gpu(0)});
  for (const auto& [inputs, labels] : ahead) {  // on the GPU
    CHECK(inputs.device() == td::gpu(0));
  }
  td::data::DataLoader balanced(all, {.batch_size = 32, .sampler = td::data::WeightedRandomSampler(std::vector<double>(1000, 1.0), 500)});
  td::data::DataLoader shared(all, {.batch_size = 32, .sampler = td::data::DistributedSampler(1000, 4, 1)});
  CHECK(balanced.size() == 16 && shared.size() == 8);

  const auto parts = td::data::random_split(all, {0.8, 0.2}, 1);  // or numbers of samples
  const td::data::ConcatDataset both({parts[0], parts[1]});
  const auto noisy = td::data::map(both, [](td::data::Sample sample) {  // called when a sample is read
    return td::data::Sample{{sample.input() + td::randn({8}) * 0.1, sample.target()}};
  });
  CHECK(both.size() == 1000 && noisy.get(3).input().sizes() == td::Shape({8}));

  std::ofstream("houses.csv") << "town,rooms,price\nUlm,3,100.5\nBonn,,90\n";
  const auto table = td::data::read_csv("houses.csv", {.categories = {"town"}, .missing = 0.0});
  const auto prices = table.column("price");  // float32, a view of table.values
  CHECK(td::equal(prices, td::tensor({100.5, 90.0})) && table.values.sizes() == td::Shape({2, 3}));

  td::data::DataLoader squares(Squares{}, {.batch_size = 10});
  for (const auto& [number, square] : squares) CHECK(td::equal(number * number, square));

  const td::data::Digits digits;
  const auto train = digits.train();        // 1,437 samples: images (1, 8, 8) from 0 to 1, labels 0 to 9
  const auto held_out = digits.held_out();  // 360 others
  CHECK(train.size() == 1437 && held_out.size() == 360);
}

void pictures() {
  std::filesystem::create_directories("pets/cat");
  std::filesystem::create_directories("pets/dog");
  td::data::write_png(td::full({3, 40, 30}, 9, td::kUInt8), "pets/cat/1.png");
  td::data::write_jpeg(td::full({3, 40, 30}, 9, td::kUInt8), "pets/dog/2.jpg");
  const td::data::TensorDataset train_set({td::zeros({5, 1, 28, 28})});

  using namespace td::data::transforms;
  const Compose augment({RandomResizedCrop(24), RandomHorizontalFlip(), ColorJitter({.brightness = 0.4, .contrast = 0.4}), ToTensor(),
                         Normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})});
  const td::data::ImageFolder pets("pets", {.transform = augment});  // pets/cat/1.png, pets/dog/2.jpg, …
  td::data::DataLoader pictures(pets, {.batch_size = 64, .shuffle = true, .num_workers = 4});
  const auto small = td::data::map_input(train_set, RandomCrop(28, 4));  // the same for any dataset
  for (const auto& [images, labels] : pictures) CHECK(images.sizes() == td::Shape({2, 3, 24, 24}) && labels.sum().item<int64_t>() == 1);
  CHECK(small[0].input().sizes() == td::Shape({1, 28, 28}));
}

void files() {
  const auto w = td::randn({2, 3}), b = td::randn({2}), a = td::arange(4), x = td::arange(3);
  td::io::save_safetensors("model.safetensors", {{"weight", w}, {"bias", b}}, {{"made_by", "me"}});
  auto tensors = td::io::load_safetensors("model.safetensors", td::gpu(1));  // std::map<std::string, td::Tensor>
  auto file = td::io::read_safetensors("model.safetensors");                 // with file.metadata
  CHECK(td::equal(tensors.at("weight").cpu(), w) && file.metadata.at("made_by") == "me");

  td::io::save_npy("x.npy", x);
  auto y = td::io::load_npy("x.npy", td::gpu(0));
  td::io::save_npz("all.npz", {{"a", a}, {"b", b}});
  auto arrays = td::io::load_npz("all.npz");
  CHECK(td::equal(y.cpu(), x) && td::equal(arrays.at("b"), b));

  td::nn::Linear net(3, 2);
  td::optim::Adam adam(net.parameters());
  td::save("net.safetensors", net, adam);  // parameters, buffers, the optimizer's state and options
  td::load("net.safetensors", net, adam);  // onto the devices where net's parameters are
  td::load("model.safetensors", net);      // bare names, as other libraries write them
  CHECK(td::equal(net.weight, w));
}

void training() {
  const td::data::Digits digits;
  td::train::DataModule data(digits.train(), digits.held_out(), {.batch_size = 64});
  Net model;
  td::train::Trainer trainer({.max_epochs = 10, .num_gpus = 2, .checkpoint_dir = "runs/mine"});
  trainer.fit(model, data);
  std::cout << trainer.board().series().at("val_acc").back().y << "\n";
  CHECK(trainer.board().series().at("val_acc").back().y > 0.9);
  CHECK(std::filesystem::exists("runs/mine/checkpoint.safetensors"));

  const auto device = td::gpu(0);
  td::data::DataLoader loader(digits.held_out(), {.batch_size = 64});
  td::train::F1Score f1({.num_classes = 10});  // the mean over classes; .average = "micro" counts all samples together
  for (const auto& [x, y] : loader) f1.update(model(x.to(device)), y.to(device));
  std::cout << f1.compute() << "\n";
  CHECK(f1.compute() > 0.9 && f1.compute() < 1);

  td::train::ConfusionMatrix confusion({.num_classes = 10});
  for (const auto& [x, y] : loader) confusion.update(model(x.to(device)), y.to(device));
  td::train::Report report = td::train::make_report(trainer);  // curves, devices, memory and options of the last fit
  report.title = "Digits";
  report.highlights = {{"accuracy", "97%"}};
  report.confusion = td::train::ReportConfusion{confusion.compute(), {}, {}};  // the matrix, names of the classes, wrong samples
  td::train::write_report("runs/mine/report.html", report);
  CHECK(std::filesystem::file_size("runs/mine/report.html") > 10000);

  td::train::SummaryWriter writer("runs/mine/tensorboard");  // tensorboard --logdir runs
  for (const auto& point : trainer.board().series().at("val_acc")) writer.add_scalar("val_acc", point.y, std::llround(point.x));
  writer.add_histogram("first layer", model.parameters()[0], 10);
  writer.add_image("a digit", digits.images()[0], 10);
  writer.add_text("notes", "learned from **1,437** digits", 10);
  writer.add_hparams({{"lr", 3e-3}, {"optimizer", std::string("Adam")}}, {{"accuracy", 0.97}});
  CHECK(std::filesystem::file_size(writer.path()) > 1000);
}

}  // namespace

int main() {
  data();
  pictures();
  files();
  training();
  return finish();
}
