#include "io/gzip.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tandem::io {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

/// All that `read` gives: the memory follows what comes, not what was promised.
template <class Read>
std::string all_of(const Read& read) {
  std::string bytes;
  size_t made = 0;
  do {
    bytes.resize(std::max(2 * made, kPieceBytes));
    made += read(bytes.data() + made, bytes.size() - made);
  } while (made == bytes.size());
  bytes.resize(made);
  return bytes;
}

}  // namespace

ByteStream::ByteStream(const char* op, std::string path) : file_(op, std::move(path)) {
  std::array<char, 2> start = {};
  file_.read(start.data(), std::min<uint64_t>(file_.size(), start.size()), 0);
  if (start == std::array{'\x1f', '\x8b'})
    inflater_.emplace(
        Inflater::Form::Gzip, [this] { return next_piece(); }, file_.what());
}

std::string_view ByteStream::next_piece() {
  piece_.resize(std::min<uint64_t>(file_.size() - offset_, kPieceBytes));
  file_.read(piece_.data(), piece_.size(), offset_);
  offset_ += piece_.size();
  return piece_;
}

size_t ByteStream::read(void* to, size_t bytes) {
  if (inflater_) return inflater_->read(to, bytes);
  const size_t count = std::min<uint64_t>(bytes, file_.size() - offset_);
  file_.read(to, count, offset_);
  offset_ += count;
  return count;
}

std::string gunzip(std::string_view packed, std::string_view what) {
  Inflater inflater(
      Inflater::Form::Gzip, [&] { return std::exchange(packed, {}); }, std::string(what));
  return all_of([&](void* to, size_t bytes) { return inflater.read(to, bytes); });
}

std::string read_bytes(const char* op, const std::string& path) {
  ByteStream stream(op, path);
  if (stream.packed()) return all_of([&](void* to, size_t bytes) { return stream.read(to, bytes); });
  std::string bytes(stream.most(), '\0');
  (void)stream.read(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace tandem::io
