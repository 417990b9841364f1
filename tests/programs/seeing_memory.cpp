// env: TANDEM_VIRTUAL_GPUS=2x256MiB
// Where the memory went: a history, a file and a page of it, a fraction of a GPU, and what smi shows.
#include <tandem/tandem.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "check.h"

namespace td = tandem;

static std::string file_text(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int main() {
  const auto device = td::gpu(0);
  // The memory's history: who took what, and a page and a file to look at it.
  td::cuda::memory::record_history();
  auto kept = td::ones({1000}, device);
  const int kept_line = __LINE__ - 1;
  { auto gone = td::ones({2000}, device); }
  const auto history = td::cuda::memory::history(device);
  CHECK(history.size() >= 3);
  td::cuda::memory::dump_snapshot("snapshot.pickle");
  td::cuda::memory::write_page("memory.html");
  CHECK(std::filesystem::file_size("snapshot.pickle") > 100);
  CHECK(file_text("memory.html").find("seeing_memory.cpp:" + std::to_string(kept_line)) != std::string::npos);
  td::cuda::memory::record_history(false);

  // A fraction of a GPU, as torch.cuda.set_per_process_memory_fraction.
  td::cuda::set_per_process_memory_fraction(0.25, td::gpu(1));
  CHECK_ERROR(td::empty({100 << 20}, {.dtype = td::kUInt8, .device = td::gpu(1)}), td::OutOfMemoryError, "64.00 MiB");

  // What nvidia-smi shows, for virtual GPUs too; this process is in the list.
  const auto gpus = td::smi::query();
  CHECK(gpus.size() == 2 && gpus[0].memory_total == 256u << 20 && gpus[0].memory_used >= 4000);
  bool listed = false;
  for (const auto& process : gpus[0].processes) listed |= process.pid == getpid();
  CHECK(listed);
  CHECK(shown(td::smi::table()).find("tandem virtual GPU") != std::string::npos);

  // docs/smi.md
  for (const td::smi::Gpu& gpu : td::smi::query()) {
    std::cout << gpu.name << " " << gpu.memory_used << " of " << gpu.memory_total << " bytes\n";
    for (const td::smi::Process& process : gpu.processes) std::cout << "  " << process.pid << " " << process.tensor_bytes << "\n";
  }
  std::cout << td::smi::table();

  // docs/memory.md
  namespace memory = td::cuda::memory;
  memory::record_history();
  auto x = td::ones({1000, 1000}, td::gpu(0));
  for (const memory::HistoryEntry& entry : memory::history(td::gpu(0)))
    std::cout << entry.action << " " << entry.size << " bytes, " << entry.file << ":" << entry.line << "\n";
  memory::record_history(false);
  const memory::Scope scope;
  (void)td::ones({100}, td::gpu(0)).sum();
  CHECK(scope.report().empty());
  return finish();
}
