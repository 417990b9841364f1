#include "process/parcel.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "runtime/shared_memory.h"
#include "tensor/share.h"
#include "tensor/storage.h"
#include "tensor/tensor_impl.h"

namespace tandem::multiprocessing::detail {
namespace {

constexpr uint32_t kMagic = 0x74616d70;
constexpr size_t kInline = size_t{32} << 10;  // what a message carries itself; more goes into shared memory
constexpr size_t kMostFiles = 253;            // SCM_MAX_FD of the system
constexpr size_t kAlignment = 64;

constexpr size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// How a message begins.
struct Head {
  uint32_t magic;
  uint32_t files;
  uint32_t in_memory;  // whether the rest lies in the memory of the last descriptor: copies first, then the values
  uint32_t unused;
  uint64_t values, copies;  // bytes
  uint64_t number;
};

size_t bytes_of(const Tensor& tensor) { return tensor.nbytes(); }

}  // namespace

void refuse(const char* op, std::string_view what) { fail('[', op, "] what arrived from another process does not fit: ", what); }

void Message::set_number(uint64_t number) { std::memcpy(bytes.data() + offsetof(Head, number), &number, sizeof number); }

void Parcel::put_bytes(const void* bytes, size_t count) {
  const size_t before = bytes_.size();
  bytes_.resize(before + count);
  if (count > 0) std::memcpy(bytes_.data() + before, bytes, count);
}

void Parcel::put_text(std::string_view text) {
  put<uint64_t>(text.size());
  put_bytes(text.data(), text.size());
}

void Parcel::put_file(int file, std::shared_ptr<const void> keeper) {
  put<uint32_t>(static_cast<uint32_t>(files_.size()));
  files_.push_back({file, std::move(keeper)});
}

void Parcel::put_memory(const std::shared_ptr<runtime::SharedMemory>& memory) {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].keeper == memory) return put<uint32_t>(static_cast<uint32_t>(i));
  }
  put_file(memory->file(), memory);
}

void Parcel::put_copy(const Tensor& dense) {
  put<uint64_t>(copied_);
  copies_.emplace_back(dense, copied_);
  copied_ += align_up(bytes_of(dense));
}

Message Parcel::finish() {
  Head head{kMagic, 0, 0, 0, bytes_.size(), copied_, 0};
  Message message;
  message.given = std::move(given_);
  message.files = std::move(files_);
  const auto write_copies = [&](char* to) {
    for (const auto& [tensor, place] : copies_) {
      if (bytes_of(tensor) > 0) std::memcpy(to + place, tensor.impl().data, bytes_of(tensor));
    }
  };
  if (bytes_.size() + copied_ > kInline) {
    auto memory = runtime::SharedMemory::create(copied_ + bytes_.size());
    write_copies(memory->data());
    std::memcpy(memory->data() + copied_, bytes_.data(), bytes_.size());
    head.in_memory = 1;
    message.files.push_back({memory->file(), memory});
    message.bytes.resize(sizeof head);
  } else {
    message.bytes.resize(sizeof head + bytes_.size() + copied_);
    if (!bytes_.empty()) std::memcpy(message.bytes.data() + sizeof head, bytes_.data(), bytes_.size());
    write_copies(message.bytes.data() + sizeof head + bytes_.size());
  }
  if (message.files.size() > kMostFiles)
    fail('[', op_, "] one message can carry ", kMostFiles, " shared memories and other descriptors, not ", message.files.size(),
         ": share a module at once by its share_memory(), or send it in parts");
  head.files = static_cast<uint32_t>(message.files.size());
  std::memcpy(message.bytes.data(), &head, sizeof head);
  return message;
}

Received::Received(std::vector<char> bytes, std::vector<Descriptor> files, const char* op)
    : bytes_(std::move(bytes)), files_(std::move(files)), memories_(files_.size()), op_(op) {
  Head head;
  if (bytes_.size() < sizeof head) refuse(op_, str("a message of ", bytes_.size(), " bytes is too short"));
  std::memcpy(&head, bytes_.data(), sizeof head);
  if (head.magic != kMagic) refuse(op_, "it does not begin as a message of tandem's");
  if (head.files != files_.size()) refuse(op_, str(files_.size(), " descriptors came along, ", head.files, " are announced"));
  const size_t room = std::numeric_limits<size_t>::max() / 4;
  if (head.values > room || head.copies > room) refuse(op_, "its sizes are out of range");
  size_t here = bytes_.size() - sizeof head;
  const char* start = bytes_.data() + sizeof head;
  if (head.in_memory) {
    if (files_.empty()) refuse(op_, "it has no memory");
    memory_ = runtime::SharedMemory::open(std::move(files_.back()));
    memories_.back() = memory_;
    here = memory_->bytes();
    // A copy, since the sender could still change what has been looked at.
    if (head.values + head.copies > here) refuse(op_, str(here, " bytes came, ", head.values + head.copies, " are announced"));
    bytes_.assign(memory_->data() + head.copies, memory_->data() + head.copies + head.values);
    start = bytes_.data();
  } else {
    if (head.values + head.copies != here) refuse(op_, str(here, " bytes came, ", head.values + head.copies, " are announced"));
    copies_ = start + head.values;
  }
  copied_ = head.copies;
  number_ = head.number;
  at_ = start;
  end_ = start + head.values;
}

Received::~Received() = default;
Received::Received(Received&&) noexcept = default;

void Received::take_bytes(void* to, size_t count) {
  if (count > static_cast<size_t>(end_ - at_)) refuse(op_, str("it ends ", count - static_cast<size_t>(end_ - at_), " bytes too early"));
  if (count > 0) std::memcpy(to, at_, count);
  at_ += count;
}

std::string_view Received::take_text() {
  const size_t size = take_count(1);
  const std::string_view text(at_, size);
  at_ += size;
  return text;
}

size_t Received::take_count(size_t each) {
  const auto count = take<uint64_t>();
  const auto left = static_cast<size_t>(end_ - at_);
  if (count > left / std::max<size_t>(each, 1)) refuse(op_, str(count, " elements are announced, ", left, " bytes are left"));
  return count;
}

Descriptor Received::take_file() {
  const auto index = take<uint32_t>();
  if (index >= files_.size() || !files_[index]) refuse(op_, str("it has no descriptor ", index));
  return std::move(files_[index]);
}

std::shared_ptr<runtime::SharedMemory> Received::take_memory() {
  const auto index = take<uint32_t>();
  if (index >= files_.size() || (!files_[index] && !memories_[index])) refuse(op_, str("it has no descriptor ", index));
  if (!memories_[index]) memories_[index] = runtime::SharedMemory::open(std::move(files_[index]));
  return memories_[index];
}

Ref<Storage> Received::take_copy(size_t bytes) {
  const auto place = take<uint64_t>();
  if (place > copied_ || bytes > copied_ - place || place % kAlignment != 0)
    refuse(op_, str(bytes, " bytes at ", place, " are outside of the ", copied_, " that came"));
  if (memory_) return tandem::detail::shared_storage(memory_, place, bytes);
  Ref<Storage> storage(new Storage(Device(), bytes, false, Site::none()));
  if (bytes > 0) std::memcpy(storage->data(), copies_ + place, bytes);
  return storage;
}

void Received::finish() const {
  if (at_ != end_) refuse(op_, str(end_ - at_, " bytes are left over"));
}

}  // namespace tandem::multiprocessing::detail
