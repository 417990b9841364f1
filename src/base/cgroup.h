// What the process's cgroups leave it of the machine, in both versions. They are nested: the tightest limit on the way up holds.
#pragma once

#include <cstddef>
#include <string>

namespace tandem::detail {

/// The quota in cores that the cgroup files below `root` give the process whose /proc/self/cgroup reads `membership`; 0 where there is
/// none.
[[nodiscard]] double cgroup_quota(const std::string& membership, const std::string& root);
/// The bytes of memory that they give it; 0 where nothing limits.
[[nodiscard]] size_t cgroup_memory(const std::string& membership, const std::string& root);

/// The same of this process, as /proc and /sys below `root` have it.
[[nodiscard]] double cgroup_quota(const std::string& root = "");
/// The bytes of the machine's memory; 0 where the system does not say.
[[nodiscard]] size_t machine_memory();
/// The bytes of memory that this process may use: the machine's, or what its cgroups leave of it.
[[nodiscard]] size_t usable_memory(const std::string& root = "");

}  // namespace tandem::detail
