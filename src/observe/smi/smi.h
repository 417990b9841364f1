// What nvidia-smi shows, for virtual and real GPUs: memory, how busy, how warm, and which programs use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem::smi {

/// A process that uses a GPU.
struct Process {
  int64_t pid = 0;
  std::string name;         // the file that it runs; empty where that is not known
  size_t memory_used = 0;   // bytes of the GPU
  size_t tensor_bytes = 0;  // of these, the most that its tensors held since the last look; 0 for programs without tandem
};

/// One GPU, and who uses it.
struct Gpu {
  int index = 0;  // for the program that sees it
  std::string name;
  std::string uuid;  // without "GPU-"; a virtual GPU's is another in each program
  bool is_virtual = false;
  int64_t program = 0;                                      // the process whose virtual GPU it is; 0: a real GPU
  size_t memory_total = 0, memory_used = 0;                 // bytes
  std::optional<int> utilization, temperature, power_draw;  // percent, degrees Celsius, milliwatts; nothing where it has no such gauge
  std::vector<Process> processes;                           // by pid
};

/// The GPUs that this process sees, with all programs of this user that use them: workers and ranks share its virtual GPUs, anybody its
/// real ones. Waits for no program longer than a second. Error in a process that was forked from one that had begun to use GPUs.
[[nodiscard]] std::vector<Gpu> query();
/// The real GPUs that this process sees, and the virtual ones of all programs of this user, by program. Its own virtual GPUs are among them
/// where it uses them, or nobody has any.
[[nodiscard]] std::vector<Gpu> query_all();

/// The table that nvidia-smi prints, of `query()` or of the GPUs given.
[[nodiscard]] std::string table();
[[nodiscard]] std::string table(std::span<const Gpu> gpus);

}  // namespace tandem::smi
