// Records of queued work, in chunks of memory. Chunks that have been read are used again, so a steady loop never allocates.
#include "runtime/virtual/task_queue.h"

#include <algorithm>
#include <new>

namespace tandem::runtime::virtual_gpu {
namespace {
constexpr size_t kChunkBytes = size_t{64} << 10;  // a larger record gets a chunk of its own size, which is not kept
constexpr int kMostSpares = 64;                   // chunks that are kept: 4 MiB
}  // namespace

/// Memory for records, right after this header. Records go on in the chunk `next`.
struct alignas(16) TaskQueue::Chunk {
  Chunk* next = nullptr;
  size_t capacity = 0;
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

// The stream's thread ends only when it has run every task: no task is left to destroy.
TaskQueue::~TaskQueue() {
  for (Chunk* list : {read_chunk_, spare_}) {
    while (list) {
      Chunk* next = list->next;
      ::operator delete(list);
      list = next;
    }
  }
}

TaskQueue::Chunk* TaskQueue::take_chunk(size_t bytes) {
  if (bytes <= kChunkBytes) {
    const std::lock_guard lock(spare_mutex_);
    if (Chunk* chunk = spare_) {
      spare_ = chunk->next;
      --spares_;
      chunk->next = nullptr;
      return chunk;
    }
  }
  const size_t capacity = std::max(bytes, kChunkBytes);
  auto* chunk = new (::operator new(sizeof(Chunk) + capacity)) Chunk;
  chunk->capacity = capacity;
  return chunk;
}

void TaskQueue::give_back(Chunk* chunk) {
  if (chunk->capacity == kChunkBytes) {
    const std::lock_guard lock(spare_mutex_);
    if (spares_ < kMostSpares) {
      chunk->next = spare_;
      spare_ = chunk;
      ++spares_;
      return;
    }
  }
  ::operator delete(chunk);
}

TaskHeader* TaskQueue::reserve(size_t bytes) {
  // After every record there is room for a header without `act`: it says that the next record is in the next chunk.
  if (write_ == nullptr || static_cast<size_t>(write_end_ - write_) < bytes + sizeof(TaskHeader)) {
    Chunk* chunk = take_chunk(bytes + sizeof(TaskHeader));
    if (write_chunk_) {
      new (write_) TaskHeader;  // the header without `act`
      write_chunk_->next = chunk;
    } else {
      read_chunk_ = chunk;
      read_ = chunk->data();
    }
    write_chunk_ = chunk;
    write_ = chunk->data();
    write_end_ = write_ + chunk->capacity;
  }
  return new (write_) TaskHeader;
}

TaskHeader* TaskQueue::front() {
  for (;;) {
    auto* task = std::launder(reinterpret_cast<TaskHeader*>(read_));
    if (task->act) return task;  // else the next one is in the next chunk
    Chunk* done = read_chunk_;
    read_chunk_ = done->next;
    read_ = read_chunk_->data();
    give_back(done);
  }
}

}  // namespace tandem::runtime::virtual_gpu
