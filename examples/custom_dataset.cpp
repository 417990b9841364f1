// A dataset of one's own: pictures named in a list. As PyTorch's C++ example "custom-dataset".
//   custom_dataset LIST.csv     a line a picture: path,label
// Without a list it draws some: bright pictures are class 1, dark ones class 0.
#include <tandem/tandem.h>

#include <filesystem>
#include <fstream>
#include <iostream>

namespace td = tandem;
namespace data = td::data;

/// Pictures of a list, brought to 32x32 in grey; (1, 32, 32) from 0 to 1, and their label.
class PictureList : public data::Dataset {
 public:
  explicit PictureList(const std::string& list) {
    std::ifstream file(list);
    std::string line;
    while (std::getline(file, line)) {
      const auto comma = line.rfind(',');
      if (comma == std::string::npos) td::fail(list, ": a line has no comma: ", line);
      entries_.push_back({line.substr(0, comma), std::stoll(line.substr(comma + 1))});
    }
    if (entries_.empty()) td::fail(list, ": there is nothing in this list");
  }
  int64_t size() const override { return static_cast<int64_t>(entries_.size()); }
  data::Sample get(int64_t index) const override {
    const auto& [path, label] = entries_[static_cast<size_t>(index)];
    const auto picture = data::read_image(path, data::ImageMode::Gray).to(td::kFloat32) / 255;
    const auto small = td::interpolate(picture.unsqueeze(0), {.size = td::Shape{32, 32}, .mode = "bilinear", .antialias = true});
    return {{small[0], td::tensor(label)}};
  }

 private:
  std::vector<std::pair<std::string, int64_t>> entries_;
};

struct Net : td::train::Classifier {
  td::nn::Sequential net{td::nn::Conv2d(1, 8, 3, {.stride = 2}),
                         td::nn::ReLU(),
                         td::nn::Conv2d(8, 16, 3, {.stride = 2}),
                         td::nn::ReLU(),
                         td::nn::AdaptiveAvgPool2d(1),
                         td::nn::Flatten(),
                         td::nn::Linear(16, 2)};
  void fields(td::nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
    return td::optim::make<td::optim::Adam>(parameters(), {.lr = 1e-2});
  }
};

std::string draw_some() {
  std::filesystem::create_directories("pictures");
  std::ofstream list("pictures/list.csv");
  for (int i = 0; i < 60; ++i) {
    const int label = i % 2;
    const auto picture = td::rand({1, 40, 40}) * 100 + (label ? 120 : 30);
    const std::string path = td::str("pictures/", i, ".png");
    data::write_png(picture.to(td::kUInt8), path);
    list << path << ',' << label << '\n';
  }
  return "pictures/list.csv";
}

int main(int argc, char** argv) {
  td::manual_seed(0);
  const PictureList all(argc > 1 ? argv[1] : draw_some());
  const auto parts = data::random_split(all, {0.8, 0.2});
  Net model;
  td::train::Trainer trainer({.max_epochs = 8, .num_gpus = td::num_gpus()});
  trainer.fit(model, td::train::DataModule(parts[0], parts[1], {.batch_size = 8, .num_workers = 2}));
  std::cout << "accuracy " << trainer.board().series().at("val_acc").back().y << "\n";
}
