#include "base/cgroup.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tandem::detail {
namespace {

/// The smaller limit, where 0 is none.
template <class T>
T tighter(T a, T b) {
  return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b);
}

/// The tightest of what `read(folder)` gives from `root + path` up to `root`; 0 where nothing limits.
template <class T>
T tightest(const std::string& root, std::string path, T (*read)(const std::string& folder)) {
  T best = 0;
  while (true) {
    best = tighter(best, read(root + path));
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos || path == "/") return best;
    path.resize(slash);
  }
}

/// A file's first number; 0 where it has none ("max").
template <class T>
T number(const std::string& path) {
  std::ifstream file(path);
  T value = 0;
  return file >> value ? value : 0;
}

double quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");  // "max 100000" or "150000 100000"
  double quota = 0, period = 0;
  return file >> quota >> period && period > 0 ? quota / period : 0;
}

double quota_v1(const std::string& folder) {
  const auto quota = number<double>(folder + "/cpu.cfs_quota_us"), period = number<double>(folder + "/cpu.cfs_period_us");
  return quota > 0 && period > 0 ? quota / period : 0;
}

// What is above `high` is taken away again as fast as the kernel can: there is no living there.
size_t memory_v2(const std::string& folder) {
  return tighter(number<size_t>(folder + "/memory.max"), number<size_t>(folder + "/memory.high"));
}
size_t memory_v1(const std::string& folder) { return number<size_t>(folder + "/memory.limit_in_bytes"); }

/// `v2` read where the unified hierarchy has the process, `v1` where `controller`'s own has it, in one of `folders`.
template <class T>
T limit(const std::string& membership, const std::string& root, const std::string& controller, std::initializer_list<const char*> folders,
        T (*v2)(const std::string&), T (*v1)(const std::string&)) {
  T best = 0;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/user/a" or "0::/user/a"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", path = line.substr(second + 1);
    if (controllers == ",,") {
      best = tighter(best, tightest(root, path, v2));
    } else if (controllers.find("," + controller + ",") != std::string::npos) {
      for (const char* folder : folders) best = tighter(best, tightest(root + "/" + folder, path, v1));
    }
  }
  return best;
}

std::string membership_of_this_process(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

}  // namespace

double cgroup_quota(const std::string& membership, const std::string& root) {
  return limit(membership, root, "cpu", {"cpu", "cpu,cpuacct"}, quota_v2, quota_v1);
}

size_t cgroup_memory(const std::string& membership, const std::string& root) {
  return limit(membership, root, "memory", {"memory"}, memory_v2, memory_v1);
}

double cgroup_quota(const std::string& root) { return cgroup_quota(membership_of_this_process(root), root + "/sys/fs/cgroup"); }

size_t machine_memory() {
  return static_cast<size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES))) * static_cast<size_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
}

size_t usable_memory(const std::string& root) {
  return tighter(machine_memory(), cgroup_memory(membership_of_this_process(root), root + "/sys/fs/cgroup"));
}

}  // namespace tandem::detail
