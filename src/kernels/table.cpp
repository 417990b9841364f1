#include "kernels/table.h"

#include <atomic>

namespace tandem::kernels {
namespace {

constinit std::atomic<const Table*> table_of_gpus{nullptr};

}  // namespace

const Table& gpu_table() {
  const Table* const table = table_of_gpus.load(std::memory_order_acquire);
  return table ? *table : virtual_table();
}

void set_gpu_table(const Table& table) { table_of_gpus.store(&table, std::memory_order_release); }

}  // namespace tandem::kernels
