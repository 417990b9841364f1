#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <thread>
#include <vector>

#include "base/cgroup.h"
#include "base/env.h"
#include "base/error.h"
#include "base/number_in.h"

namespace tandem::detail {
namespace {

int affinity_cores() {
  for (int size = 1024; size <= 1 << 16; size *= 2) {  // the kernel's mask may be wider than cpu_set_t
    std::vector<cpu_set_t> mask((size + CPU_SETSIZE - 1) / CPU_SETSIZE);
    const size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return std::max(1, CPU_COUNT_S(bytes, mask.data()));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

/// A variable another program sets (mpirun, torchrun): what is no number from 1 on counts as 1.
int local_ranks(const char* variable) {
  const auto text = environment(variable);
  int count = 1;
  if (text) std::from_chars(text->data(), text->data() + text->size(), count);
  return std::max(count, 1);
}

}  // namespace

int usable_cores() {
  if (const auto text = environment("TANDEM_NUM_THREADS")) {
    const int count = number_in<int>(*text).value_or(0);
    if (count < 1) fail("TANDEM_NUM_THREADS must be a whole number from 1 on, such as 4, not '", *text, "'");
    return count;
  }
  int cores = affinity_cores();
  const double quota = cgroup_quota();
  if (quota > 0) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  const int ranks = std::max(local_ranks("OMPI_COMM_WORLD_LOCAL_SIZE"), local_ranks("LOCAL_WORLD_SIZE"));
  return std::max(1, cores / ranks);
}

}  // namespace tandem::detail
