#include "process/value.h"

#include "base/error.h"

namespace tandem::multiprocessing::detail {

std::shared_ptr<runtime::SharedMemory> numbers(int64_t count, size_t size) {
  int64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count, static_cast<int64_t>(size), &bytes))
    fail("[Array] size is ", count, ": it takes 0 or more, and as many as fit into memory");
  return runtime::SharedMemory::create(static_cast<size_t>(bytes));
}

std::pair<std::shared_ptr<runtime::SharedMemory>, int64_t> take_numbers(Received& received, size_t size) {
  const auto count = received.take<int64_t>();
  auto memory = received.take_memory();
  if (count < 0 || static_cast<uint64_t>(count) > memory->bytes() / size)
    refuse(received.op(), str(count, " numbers are announced, ", memory->bytes(), " bytes came"));
  return {std::move(memory), count};
}

}  // namespace tandem::multiprocessing::detail
