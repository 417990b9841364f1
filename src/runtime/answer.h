// What this process tells other programs of the same user about the GPUs that it uses: `tandem smi` asks.
//
// A process that uses GPUs listens at an abstract Unix socket, whose name is gone with the process, however it ends. Who connects gets a
// text and is asked nothing; who is another user gets none.
#pragma once

#include <sys/un.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::runtime {

/// A GPU as one process sees it.
struct GpuUse {
  int index = 0;
  bool is_virtual = false;
  std::string name, uuid;
  size_t memory_total = 0, memory_used = 0;  // bytes; used by this process
  size_t tensor_bytes = 0;                   // of these, the most that tensors held since the last look
  std::optional<int> utilization;            // percent; of a virtual GPU
};
/// A process and the GPUs it sees.
struct ProgramUse {
  int64_t pid = 0;
  std::string name;   // the file that it runs
  std::string group;  // the same for processes that inherited their virtual GPUs from one another
  std::vector<GpuUse> gpus;
};

/// Of this process. Error in one that was forked from a process that had begun to use GPUs.
[[nodiscard]] ProgramUse own_use();

/// As text, and back; nothing where the text is none of these, whoever wrote it.
[[nodiscard]] std::string to_text(const ProgramUse& use);
[[nodiscard]] std::optional<ProgramUse> from_text(std::string_view text);

/// What names of this user's sockets begin with, without the zero in front.
[[nodiscard]] std::string answer_prefix();
/// Begins to answer, once a process: called where a GPU's memory is first used. Where the system has no socket or thread left, nobody is
/// told.
void start_answering() noexcept;

}  // namespace tandem::runtime
