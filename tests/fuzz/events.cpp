// Event files are only written here, so the round trip is tried: calls that an input asks for, and what a reader of our own, by the
// format's rules alone, makes of the file.
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.h"
#include "ops/creation.h"
#include "train/summary_writer.h"

namespace {

using fuzz::expect;

/// An input, taken piece by piece; zeros at its end.
class Pieces {
 public:
  explicit Pieces(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::string_view take(size_t most) {
    const std::string_view piece = rest_.substr(0, most);
    rest_.remove_prefix(piece.size());
    return piece;
  }
  template <class T>
  T number() {
    T value = {};
    const std::string_view piece = take(sizeof value);
    std::memcpy(&value, piece.data(), piece.size());
    return value;
  }
  std::string text() { return std::string(take(number<uint8_t>())); }

 private:
  std::string_view rest_;
};

template <class T>
T number(std::string_view bytes) {
  expect(bytes.size() >= sizeof(T), "a number is cut off");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// CRC-32C bit by bit, masked as TensorFlow does.
uint32_t checksum(std::string_view bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ (0x82f63b78U & -(crc & 1U));
  }
  return std::rotr(~crc, 15) + 0xa282ead8U;
}

std::vector<std::string_view> records(std::string_view file) {
  std::vector<std::string_view> all;
  while (!file.empty()) {
    const auto size = number<uint64_t>(file);
    expect(file.size() >= 16 && size <= file.size() - 16, "a record is cut off");
    expect(number<uint32_t>(file.substr(8)) == checksum(file.substr(0, 8)), "a length's checksum is wrong");
    all.push_back(file.substr(12, size));
    expect(number<uint32_t>(file.substr(12 + size)) == checksum(all.back()), "a record's checksum is wrong");
    file.remove_prefix(16 + size);
  }
  return all;
}

uint64_t varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    expect(!bytes.empty() && shift < 64, "a number of variable length is cut off");
    const auto byte = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
}

/// The bytes of the first field of that number in a Protocol Buffers message, which is read to its end; those of a varint as eight.
std::string field(std::string_view message, uint64_t wanted) {
  std::string found;
  bool any = false;
  while (!message.empty()) {
    const uint64_t key = varint(message);
    std::string value;
    if ((key & 7U) == 0) {
      const uint64_t integer = varint(message);
      value.assign(reinterpret_cast<const char*>(&integer), sizeof integer);
    } else {
      expect((key & 7U) == 1 || (key & 7U) == 2 || (key & 7U) == 5, "a field is of no known type");
      const uint64_t size = (key & 7U) == 1 ? 8 : (key & 7U) == 5 ? 4 : varint(message);
      expect(size <= message.size(), "a field is longer than its message");
      value = message.substr(0, size);
      message.remove_prefix(size);
    }
    if (key >> 3U != wanted || any) continue;
    any = true;
    found = value;
  }
  expect(any, "a field is missing");
  return found;
}

/// A folder in memory for one event file, gone at the end.
struct Folder {
  std::string path = "/dev/shm/fuzz-events-" + std::to_string(getpid());
  tandem::train::SummaryWriter writer{path};
  ~Folder() {
    std::error_code none;
    std::filesystem::remove_all(path, none);
  }
};

constexpr int kMostCalls = 16;  // more of them only take longer

struct Expected {
  std::string tag;
  int64_t step;
  int kind;  // 0: a scalar, 1: a text, 2: a histogram, 3: a picture
  double value = 0;
  std::string text = {};
};

void check(std::string_view record, const Expected& expected) {
  expect(number<int64_t>(field(record, 2)) == expected.step, "another step");
  const std::string value = field(field(record, 5), 1);
  expect(field(value, 1) == expected.tag + (expected.kind == 1 ? "/text_summary" : ""), "another tag");
  if (expected.kind == 0) {
    const auto there = number<float>(field(value, 2)), wanted = static_cast<float>(expected.value);
    expect(there == wanted || (std::isnan(there) && std::isnan(wanted)), "another scalar");
  } else if (expected.kind == 1) {
    expect(field(field(value, 8), 8) == expected.text, "another text");
  } else if (expected.kind == 2) {
    const std::string histogram = field(value, 5), counts = field(histogram, 7);
    double all = 0;
    for (size_t at = 0; at < counts.size(); at += sizeof(double)) all += number<double>(std::string_view(counts).substr(at));
    expect(all == expected.value && number<double>(field(histogram, 3)) == all, "a histogram of another number of values");
    expect(field(histogram, 6).size() == counts.size(), "a histogram with more limits than counts");
  } else {
    expect(field(field(value, 4), 4).starts_with("\x89PNG"), "a picture that is none");
  }
}

}  // namespace

void fuzz::read(std::string_view bytes) {
  static Folder folder;
  auto& writer = folder.writer;
  expect(truncate(writer.path().c_str(), 0) == 0, "the event file could not be emptied");
  std::vector<Expected> expected;
  Pieces pieces(bytes);
  for (int calls = 0; !pieces.empty() && calls < kMostCalls; ++calls) {
    const int kind = pieces.number<uint8_t>() % 4;
    Expected next{.tag = pieces.text(), .step = pieces.number<int64_t>(), .kind = kind};
    const bool written = succeeds([&] {
      if (kind == 0) {
        next.value = pieces.number<float>();
        writer.add_scalar(next.tag, next.value, next.step);
      } else if (kind == 1) {
        next.text = pieces.text();
        writer.add_text(next.tag, next.text, next.step);
      } else if (kind == 2) {
        std::vector<float> values(pieces.number<uint8_t>() % 16);
        for (float& value : values) value = pieces.number<float>();
        next.value = static_cast<double>(values.size());
        writer.add_histogram(next.tag, tandem::tensor(values), next.step);
      } else {
        const int64_t height = pieces.number<uint8_t>() % 5, width = pieces.number<uint8_t>() % 5;
        writer.add_image(next.tag, tandem::full({height, width}, pieces.number<float>()), next.step);
      }
    });
    if (written) expected.push_back(std::move(next));
  }
  std::ifstream in(writer.path(), std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  const auto all = records(file);
  expect(all.size() == expected.size(), "another number of records");
  for (size_t i = 0; i < all.size(); ++i) check(all[i], expected[i]);
}
