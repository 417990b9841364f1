// What a SummaryWriter leaves, taken apart byte by byte: frames, then messages by Protocol Buffers' own rules.
#include "train/summary_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "io/event_file.h"
#include "io/png.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::train::SummaryWriter;

namespace {

template <class T>
T number(const std::string& bytes, size_t at = 0) {
  T value;
  if (at + sizeof value > bytes.size()) td::fail("the bytes end in a number");
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// A message's fields; those of numbers with their bytes.
struct Fields : std::multimap<int, std::string> {
  explicit Fields(const std::string& bytes) {
    size_t at = 0;
    const auto varint = [&] {
      uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        value |= uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < bytes.size()) {
      const uint64_t key = varint();
      const auto field = static_cast<int>(key >> 3U);
      size_t size = 0;
      switch (key & 7U) {
        case 0: {
          const uint64_t value = varint();
          emplace(field, std::string(reinterpret_cast<const char*>(&value), sizeof value));
          continue;
        }
        case 1: size = 8; break;
        case 2: size = varint(); break;
        case 5: size = 4; break;
        default: td::fail("wire type ", static_cast<int>(key & 7U));
      }
      if (at + size > bytes.size()) td::fail("field ", field, " is longer than its message");
      emplace(field, bytes.substr(at, size));
      at += size;
    }
  }
  [[nodiscard]] std::string one(int field) const {
    if (count(field) != 1) td::fail("field ", field, " is there ", count(field), " times");
    return find(field)->second;
  }
  [[nodiscard]] Fields in(int field) const { return Fields(one(field)); }
};

std::vector<Fields> events(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string bytes = text.str();
  std::vector<Fields> all;
  for (size_t at = 0; at < bytes.size();) {
    const auto size = number<uint64_t>(bytes, at);
    const std::string record = bytes.substr(at + 12, size);
    EXPECT_EQ(bytes.substr(at, size + 16), td::io::event_frame(record));
    all.emplace_back(record);
    at += size + 16;
  }
  return all;
}

/// The value of event `i`, and its tag and step.
struct Value {
  Fields fields;
  std::string tag;
  int64_t step;
};
Value value(const SummaryWriter& writer, size_t i) {
  const Fields event = events(writer.path()).at(i);
  EXPECT_GT(number<double>(event.one(1)), 1.7e9);
  const Fields fields = event.in(5).in(1);
  return {fields, fields.one(1), number<int64_t>(event.one(2))};
}

std::vector<double> doubles(const std::string& bytes) {
  std::vector<double> all;
  for (size_t at = 0; at < bytes.size(); at += 8) all.push_back(number<double>(bytes, at));
  return all;
}

class SummaryWriters : public OnDevice {
 protected:
  void SetUp() override { std::filesystem::remove_all("events"); }
};
INSTANTIATE_TEST_SUITE_P(Devices, SummaryWriters, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace

TEST_P(SummaryWriters, BeginWithTheVersion) {
  const SummaryWriter writer("events");
  EXPECT_EQ(events(writer.path()).at(0).one(3), "brain.Event:2");
  EXPECT_EQ(writer.log_dir(), "events");
}

TEST_P(SummaryWriters, WriteScalars) {
  SummaryWriter writer("events");
  writer.add_scalar("loss/train", 0.5, 0);
  writer.add_scalar("loss/train", NAN, 1'000'000'000'000);
  writer.add_scalar("loss/train", 0.25, -3);
  const Value first = value(writer, 1), second = value(writer, 2), third = value(writer, 3);
  EXPECT_EQ(first.tag, "loss/train");
  EXPECT_EQ(first.step, 0);
  EXPECT_EQ(number<float>(first.fields.one(2)), 0.5F);
  EXPECT_EQ(second.step, 1'000'000'000'000);
  EXPECT_TRUE(std::isnan(number<float>(second.fields.one(2))));
  EXPECT_EQ(third.step, -3);
}

TEST_P(SummaryWriters, WriteSeveralScalarsAsRunsOfTheirOwn) {
  SummaryWriter writer("events");
  for (int step = 0; step < 2; ++step) writer.add_scalars("loss", {{"train", 1.0}, {"val", 2.0}}, step);
  EXPECT_EQ(events(writer.path()).size(), 1U);
  for (const char* folder : {"events/loss_train", "events/loss_val"}) {
    const auto files = std::filesystem::directory_iterator(folder);
    EXPECT_EQ(events(files->path().string()).size(), 3U) << folder;
  }
}

TEST_P(SummaryWriters, WriteHistograms) {
  SummaryWriter writer("events");
  writer.add_histogram("weights", td::tensor({-2., 0., 0., 1e-20, 3., 3.}, device()), 7);
  const Fields histogram = value(writer, 1).fields.in(5);
  EXPECT_EQ(number<double>(histogram.one(1)), -2);
  EXPECT_EQ(number<double>(histogram.one(2)), 3);
  EXPECT_EQ(number<double>(histogram.one(3)), 6);
  EXPECT_EQ(number<double>(histogram.one(4)), 4);
  EXPECT_NEAR(number<double>(histogram.one(5)), 22, 1e-6);
  const auto limits = doubles(histogram.one(6)), counts = doubles(histogram.one(7));
  ASSERT_EQ(limits.size(), counts.size());
  // Each number lies between the limit of its bucket and the one before; buckets at the ends hold something, but for one below.
  const auto in_bucket_of = [&](double number) {
    for (size_t i = 1; i < limits.size(); ++i)
      if (number >= limits[i - 1] && number < limits[i]) return counts[i];
    return -1.0;
  };
  EXPECT_EQ(in_bucket_of(-2), 1);
  EXPECT_EQ(in_bucket_of(0), 3);
  EXPECT_EQ(in_bucket_of(3), 2);
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts.back(), 2);
  for (size_t i = 1; i < limits.size(); ++i) EXPECT_GT(limits[i], limits[i - 1]);
  writer.add_histogram("labels", td::tensor({1, 2, 2}, device()), 0);
  EXPECT_EQ(number<double>(value(writer, 2).fields.in(5).one(3)), 3);
}

TEST_P(SummaryWriters, WriteImages) {
  SummaryWriter writer("events");
  const auto image = td::rand({3, 4, 5}).to(device());
  writer.add_image("samples", image, 2);
  const Fields picture = value(writer, 1).fields.in(4);
  EXPECT_EQ(number<int64_t>(picture.one(1)), 4);
  EXPECT_EQ(number<int64_t>(picture.one(2)), 5);
  EXPECT_EQ(number<int64_t>(picture.one(3)), 3);
  EXPECT_EQ(picture.one(4), td::io::encode_png(image.cpu()));
}

TEST_P(SummaryWriters, WriteTexts) {
  SummaryWriter writer("events");
  writer.add_text("notes", "**ü**", 1);
  const Value text = value(writer, 1);
  EXPECT_EQ(text.tag, "notes/text_summary");
  EXPECT_EQ(text.fields.in(8).one(8), "**ü**");
  EXPECT_EQ(text.fields.in(9).in(1).one(1), "text");
}

TEST_P(SummaryWriters, WriteHyperparameters) {
  SummaryWriter writer("events");
  writer.add_hparams({{"lr", 0.1}, {"optimizer", std::string("Adam")}, {"shuffle", true}}, {{"accuracy", 0.9}});
  ASSERT_EQ(events(writer.path()).size(), 5U);
  EXPECT_EQ(value(writer, 1).tag, "_hparams_/experiment");
  const Fields experiment = Fields(value(writer, 1).fields.in(9).in(1).one(2)).in(2);
  EXPECT_EQ(experiment.count(4), 3U);
  EXPECT_EQ(experiment.in(5).in(1).one(2), "accuracy");
  EXPECT_EQ(Fields(value(writer, 2).fields.in(9).in(1).one(2)).in(3).count(1), 3U);
  EXPECT_EQ(number<float>(value(writer, 4).fields.one(2)), 0.9F);
}

TEST_P(SummaryWriters, RefuseWhatCannotBeCounted) {
  SummaryWriter writer("events");
  EXPECT_EQ(error_of([&] {
              writer.add_histogram("w", td::tensor({1., static_cast<double>(INFINITY)}, device()), 0);
            }),
            "[SummaryWriter.add_histogram] w: 1 of 2 elements are infinite or nan");
  EXPECT_EQ(error_of([&] {
              writer.add_histogram("w", td::zeros({0, 2}, device()), 0);
            }),
            "[SummaryWriter.add_histogram] w: the tensor has no elements: its sizes are [0, 2]");
  EXPECT_EQ(events(writer.path()).size(), 1U);
}

TEST(TensorBoardLogger, WritesEachEpochsFigures) {
  struct Line : td::train::Module {
    td::nn::Linear net{1, 1};
    void fields(td::nn::Fields& f) override { f("net", net); }
    td::Tensor forward(const td::Tensor& x) override { return net(x); }
    td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override { return td::mse_loss(output, target); }
    std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
      return td::optim::make<td::optim::SGD>(parameters(), {.lr = 0.125});
    }
  };
  std::filesystem::remove_all("logged");
  const auto logger = std::make_shared<td::train::TensorBoardLogger>("logged");
  const td::data::TensorDataset points({td::randn({8, 1}), td::randn({8, 1})});
  Line model;
  td::train::Trainer trainer({.max_epochs = 2, .callbacks = {logger}, .quiet = true});
  trainer.fit(model, td::train::DataModule(points, points, {.batch_size = 2}));
  const auto& losses = trainer.board().series().at("val_loss");
  std::vector<std::string> tags;
  for (size_t i = 1; i <= 6; ++i) {
    const Value at = value(logger->writer(), i);
    tags.push_back(at.tag);
    EXPECT_EQ(at.step, i <= 3 ? 4 : 8);
    const auto written = number<float>(at.fields.one(2));
    if (at.tag == "val_loss") {
      EXPECT_EQ(written, static_cast<float>(losses[i <= 3 ? 0 : 1].y));
    } else if (at.tag == "lr") {
      EXPECT_EQ(written, 0.125F);
    }
  }
  EXPECT_EQ(tags, (std::vector<std::string>{"train_loss", "val_loss", "lr", "train_loss", "val_loss", "lr"}));
}
