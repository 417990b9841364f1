// Two networks in a contest: one draws digits, the other tells drawn from real ones. As PyTorch's C++ example "dcgan".
//   dcgan [FOLDER [EPOCHS]]     FOLDER has MNIST's files; without it the pictures are random. Leaves dcgan-samples.png.
#include <tandem/tandem.h>

#include <cstdlib>
#include <iostream>

namespace td = tandem;
namespace nn = td::nn;
namespace data = td::data;

constexpr int64_t kNoise = 100;  // the size of what a picture is drawn from

nn::Sequential make_generator() {
  return nn::Sequential(nn::ConvTranspose2d(kNoise, 256, 4, {.bias = false}), nn::BatchNorm2d(256), nn::ReLU(),
                        nn::ConvTranspose2d(256, 128, 3, {.stride = 2, .padding = 1, .bias = false}), nn::BatchNorm2d(128), nn::ReLU(),
                        nn::ConvTranspose2d(128, 64, 4, {.stride = 2, .padding = 1, .bias = false}), nn::BatchNorm2d(64), nn::ReLU(),
                        nn::ConvTranspose2d(64, 1, 4, {.stride = 2, .padding = 1, .bias = false}), nn::Tanh());
}

nn::Sequential make_discriminator() {
  return nn::Sequential(nn::Conv2d(1, 64, 4, {.stride = 2, .padding = 1, .bias = false}), nn::LeakyReLU(0.2),
                        nn::Conv2d(64, 128, 4, {.stride = 2, .padding = 1, .bias = false}), nn::BatchNorm2d(128), nn::LeakyReLU(0.2),
                        nn::Conv2d(128, 256, 4, {.stride = 2, .padding = 1, .bias = false}), nn::BatchNorm2d(256), nn::LeakyReLU(0.2),
                        nn::Conv2d(256, 1, 3, {.bias = false}), nn::Sigmoid());
}

/// Pictures (n, 1, 28, 28) from -1 to 1 in rows of eight, as one.
void write_samples(const td::Tensor& pictures, const std::string& path) {
  const auto grey = ((pictures.cpu() + 1) * 127.5).clamp(0, 255).to(td::kUInt8);
  std::vector<td::Tensor> rows;
  for (const auto& row : td::split(grey, 8)) rows.push_back(td::cat(td::unbind(row), 2));
  data::write_png(td::cat(rows, 1), path);
}

int main(int argc, char** argv) {
  td::manual_seed(1);
  const auto device = td::try_gpu();
  const auto pictures = [&]() -> data::AnyDataset {
    if (argc > 1) return data::Mnist(argv[1]);
    return data::Synthetic({.num_samples = 64, .input = {1, 28, 28}});
  }();
  data::DataLoader loader(pictures, {.batch_size = 64, .shuffle = true, .drop_last = true});

  auto generator = make_generator(), discriminator = make_discriminator();
  generator.to(device);
  discriminator.to(device);
  td::optim::Adam generator_optimizer(generator.parameters(), {.lr = 2e-4, .betas = {0.5, 0.999}});
  td::optim::Adam discriminator_optimizer(discriminator.parameters(), {.lr = 2e-4, .betas = {0.5, 0.999}});

  const int epochs = argc > 2 ? std::atoi(argv[2]) : argc > 1 ? 30 : 1;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    int64_t batch = 0;
    for (const auto& [images, labels] : loader) {
      // The discriminator learns that real pictures are 1 (0.8 to 1, which steadies it) and drawn ones 0.
      discriminator.zero_grad();
      const auto real = images.to(device) * 2 - 1;
      const auto n = real.size(0);
      const auto real_output = discriminator(real).view({-1});
      const auto real_loss = td::binary_cross_entropy(real_output, td::empty({n}, device).uniform_(0.8, 1));
      real_loss.backward();
      const auto fake = generator(td::randn({n, kNoise, 1, 1}, device));
      const auto fake_output = discriminator(fake.detach()).view({-1});
      const auto fake_loss = td::binary_cross_entropy(fake_output, td::zeros({n}, device));
      fake_loss.backward();
      discriminator_optimizer.step();

      // The generator learns to be taken for real.
      generator.zero_grad();
      const auto taken = discriminator(fake).view({-1});
      const auto generator_loss = td::binary_cross_entropy(taken, td::ones({n}, device));
      generator_loss.backward();
      generator_optimizer.step();
      if (batch++ % 100 == 0)
        std::cout << "epoch " << epoch << " [" << batch << "/" << loader.size() << "] discriminator "
                  << (real_loss + fake_loss).item<double>() << ", generator " << generator_loss.item<double>() << std::endl;
    }
  }
  const td::NoGradGuard no_grad;
  generator.eval();
  write_samples(generator(td::randn({64, kNoise, 1, 1}, device)), "dcgan-samples.png");
  std::cout << "wrote dcgan-samples.png\n";
}
