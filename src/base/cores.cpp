#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/env.h"
#include "base/error.h"

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

/// The tightest of what `read(folder)` gives from `root + path` up to `root`; 0 where nothing limits.
template <class Read>
double tightest(const std::string& root, std::string path, Read read) {
  double best = 0;
  while (true) {
    const double quota = read(root + path);
    if (quota > 0 && (best == 0 || quota < best)) best = quota;
    if (path.empty() || path == "/") return best;
    path.resize(path.find_last_of('/'));
  }
}

double quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");  // "max 100000" or "150000 100000"
  double quota = 0, period = 0;
  return file >> quota >> period && period > 0 ? quota / period : 0;
}

double quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period : 0;
}

std::string content(const char* path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

/// A variable another program sets (mpirun, torchrun): what is no number from 1 on counts as 1.
int local_ranks(const char* variable) {
  const auto text = environment(variable);
  int count = 1;
  if (text) std::from_chars(text->data(), text->data() + text->size(), count);
  return std::max(count, 1);
}

}  // namespace

double cgroup_quota(const std::string& membership, const std::string& root) {
  double best = 0;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/user/a" or "0::/user/a"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", path = line.substr(second + 1);
    double quota = 0;
    if (controllers == ",,") {
      quota = tightest(root, path, quota_v2);
    } else if (controllers.find(",cpu,") != std::string::npos) {
      quota = tightest(root + "/cpu", path, quota_v1);
      if (quota == 0) quota = tightest(root + "/cpu,cpuacct", path, quota_v1);
    }
    if (quota > 0 && (best == 0 || quota < best)) best = quota;
  }
  return best;
}

int usable_cores() {
  if (const auto text = environment("TANDEM_NUM_THREADS")) {
    int count = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
    if (error != std::errc() || end != text->data() + text->size() || count < 1)
      fail("TANDEM_NUM_THREADS must be a whole number from 1 on, such as 4, not '", *text, "'");
    return count;
  }
  int cores = affinity_cores();
  const double quota = cgroup_quota(content("/proc/self/cgroup"), "/sys/fs/cgroup");
  if (quota > 0) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  const int ranks = std::max(local_ranks("OMPI_COMM_WORLD_LOCAL_SIZE"), local_ranks("LOCAL_WORLD_SIZE"));
  return std::max(1, cores / ranks);
}

}  // namespace tandem::detail
