// Arguments and messages on their way: bytes, the values of tensors, and descriptors of what is shared. For the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/descriptor.h"
#include "base/ref.h"
#include "process/peers.h"
#include "tensor/tensor.h"

namespace tandem {
class Storage;
namespace runtime {
class SharedMemory;
}
}  // namespace tandem

namespace tandem::multiprocessing::detail {

template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

/// A descriptor to be passed on, and what keeps it open until then.
struct Attached {
  int file;
  std::shared_ptr<const void> keeper;
};

/// What is ready to be sent: some bytes, with descriptors.
struct Message {
  std::vector<char> bytes;
  std::vector<Attached> files;
  std::vector<std::shared_ptr<Peers>> given;  // objects that whoever gets it will use

  /// A number that travels along; 0 unless set.
  void set_number(uint64_t number);
};

/// Collects values in the order in which they will be taken out.
class Parcel {
 public:
  /// `op` names the operation in errors.
  explicit Parcel(const char* op) : op_(op) {}

  [[nodiscard]] const char* op() const { return op_; }
  void put_bytes(const void* bytes, size_t count);
  template <Plain T>
  void put(const T& value) {
    put_bytes(&value, sizeof value);
  }
  void put_text(std::string_view text);
  /// A descriptor, and what keeps it open until the message is sent.
  void put_file(int file, std::shared_ptr<const void> keeper);
  /// The descriptor of shared memory, once however often it is put.
  void put_memory(const std::shared_ptr<runtime::SharedMemory>& memory);
  /// The values of a tensor, by their place among the copies that the message carries. Of the host, dense.
  void put_copy(const Tensor& dense);
  /// An object that the receiver will use too.
  void give(std::shared_ptr<Peers> peers) { given_.push_back(std::move(peers)); }

  /// All of it. Where there is much, it lies in shared memory that the message has a descriptor of. Errors of such memory, and where the
  /// descriptors are too many for a message.
  [[nodiscard]] Message finish();

 private:
  const char* op_;
  std::vector<char> bytes_;
  std::vector<Attached> files_;
  std::vector<std::pair<Tensor, size_t>> copies_;  // with their places
  size_t copied_ = 0;
  std::vector<std::shared_ptr<Peers>> given_;
};

/// A message that has arrived, taken apart in the order in which it was put together. Nothing in it is believed: errors for what does not
/// fit.
class Received {
 public:
  /// `bytes` and `files` as Parcel::finish made them.
  Received(std::vector<char> bytes, std::vector<Descriptor> files, const char* op);
  ~Received();
  Received(Received&&) noexcept;
  Received& operator=(Received&&) = delete;

  [[nodiscard]] const char* op() const { return op_; }
  /// The number that the message was given.
  [[nodiscard]] uint64_t number() const { return number_; }
  void take_bytes(void* to, size_t count);
  template <Plain T>
  [[nodiscard]] T take() {
    T value;
    take_bytes(&value, sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view take_text();
  /// How many elements follow, of at least `each` bytes. Error where so many cannot be there.
  [[nodiscard]] size_t take_count(size_t each);
  /// A descriptor of one's own.
  [[nodiscard]] Descriptor take_file();
  /// Shared memory that a descriptor names.
  [[nodiscard]] std::shared_ptr<runtime::SharedMemory> take_memory();
  /// `bytes` of values that were put as a copy.
  [[nodiscard]] Ref<Storage> take_copy(size_t bytes);
  /// Error unless everything was taken.
  void finish() const;

  /// The storages of shared memory met so far in this message, so that two tensors in one share it here too.
  struct Met {
    const void* address;
    size_t bytes;
    Ref<Storage> storage;
  };
  std::vector<Met> met;

 private:
  std::vector<char> bytes_;
  std::vector<Descriptor> files_;
  std::vector<std::shared_ptr<runtime::SharedMemory>> memories_;  // those of files_ that have been mapped
  const char* op_;
  std::shared_ptr<runtime::SharedMemory> memory_;  // of a large message
  const char* copies_ = nullptr;
  size_t copied_ = 0;
  uint64_t number_ = 0;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

/// "[op] what arrived from another process does not fit: …".
[[noreturn]] void refuse(const char* op, std::string_view what);

}  // namespace tandem::multiprocessing::detail
