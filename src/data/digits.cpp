// The digits lie in the library as the compressed file they came in (digits_embed.S); a row is 64 pixels of 0 to 16 and the label.
#include "data/digits.h"

#include <string>

#include "base/error.h"
#include "data/sampler.h"
#include "io/gzip.h"
#include "ops/creation.h"

extern "C" {
extern const unsigned char tandem_digits_gz[];
extern const unsigned char tandem_digits_gz_end[];
}

namespace tandem::data {
namespace {

constexpr int64_t kSide = 8, kPixels = kSide * kSide, kBrightest = 16;
constexpr uint64_t kSplitSeed = 0;

std::string unpacked() {
  const auto* begin = reinterpret_cast<const char*>(tandem_digits_gz);
  const auto* end = reinterpret_cast<const char*>(tandem_digits_gz_end);
  return io::gunzip({begin, static_cast<size_t>(end - begin)}, "[Digits] inside the library: ");
}

/// The whole numbers of the text, one after another.
class Numbers {
 public:
  explicit Numbers(const std::string& text) : at_(text.data()), end_(text.data() + text.size()) {}
  int next(int most) {
    while (at_ != end_ && (*at_ < '0' || *at_ > '9')) ++at_;
    if (at_ == end_) fail("[Digits] the digits inside the library end too early");
    int number = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9' && number <= most) number = number * 10 + (*at_++ - '0');
    if (number > most) fail("[Digits] the digits inside the library have the number ", number, ", more than ", most);
    return number;
  }

 private:
  const char* at_;
  const char* end_;
};

std::vector<Tensor> read_digits() {
  const std::string text = unpacked();
  Tensor images = empty({Digits::kSamples, 1, kSide, kSide}), labels = empty({Digits::kSamples}, kInt64);
  auto* pixel = images.data_ptr<float>();
  auto* label = labels.data_ptr<int64_t>();
  Numbers numbers(text);
  for (int64_t sample = 0; sample < Digits::kSamples; ++sample) {
    for (int64_t i = 0; i < kPixels; ++i) *pixel++ = static_cast<float>(numbers.next(kBrightest)) / kBrightest;
    *label++ = numbers.next(9);
  }
  return {std::move(images), std::move(labels)};
}

}  // namespace

Digits::Digits() : TensorDataset(read_digits()) {}

TensorDataset Digits::train() const {
  const auto order = shuffled_indices(kSamples, kSplitSeed, 0);
  return subset(std::span(order).first(kTrainSamples));
}

TensorDataset Digits::held_out() const {
  const auto order = shuffled_indices(kSamples, kSplitSeed, 0);
  return subset(std::span(order).last(kHeldOutSamples));
}

}  // namespace tandem::data
