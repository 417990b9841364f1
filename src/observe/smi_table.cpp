// The table, in the form of nvidia-smi's.
#include <string_view>

#include "base/error.h"
#include "base/format.h"
#include "base/version.h"
#include "observe/local_time.h"
#include "observe/smi.h"

namespace tandem::smi {
namespace {

constexpr size_t kInside = 91;

/// `text` in a field of `width`, cut where it is longer. Bytes count as columns.
std::string left(std::string_view text, size_t width) {
  std::string out(text.substr(0, width));
  if (text.size() > width) out.replace(width - 3, 3, "...");
  out.resize(width, ' ');
  return out;
}
std::string right(const std::string& text, size_t width) { return tandem::detail::padded(text, width, true); }

std::string mebibytes(size_t bytes) { return str((bytes + (size_t{1} << 19)) >> 20, "MiB"); }

std::string gauge(std::optional<int> value, const char* unit) { return value ? str(*value, unit) : "N/A"; }

std::string watts(std::optional<int> milliwatts) { return milliwatts ? tandem::detail::formatted("%.0fW", *milliwatts / 1000.0) : "N/A"; }

std::string line(const std::string& text) { return "| " + left(text, kInside - 2) + " |\n"; }
std::string rule(char mark) { return "+" + std::string(kInside, mark) + "+\n"; }

}  // namespace

std::string table(std::span<const Gpu> gpus) {
  const auto row = [](const std::string& index, std::string_view name, const std::string& program, const std::string& memory,
                      const std::string& busy, const std::string& warm, const std::string& power) {
    return line(str(right(index, 3), "  ", left(name, 26), "  ", right(program, 9), "  ", right(memory, 21), "  ", right(busy, 5), "  ",
                    right(warm, 5), "  ", right(power, 6)));
  };
  std::string out = rule('-') + line(str("tandem smi ", kVersion, "   ", observe::local_time())) + rule('-') +
                    row("GPU", "Name", "Program", "Memory-Usage", "Util", "Temp", "Power") + rule('=');
  for (const Gpu& gpu : gpus)
    out += row(str(gpu.index), gpu.name, gpu.is_virtual ? str(gpu.program) : "-",
               str(mebibytes(gpu.memory_used), " / ", right(mebibytes(gpu.memory_total), 9)), gauge(gpu.utilization, "%"),
               gauge(gpu.temperature, "C"), watts(gpu.power_draw));
  if (gpus.empty()) out += line("No GPUs: set TANDEM_VIRTUAL_GPUS=2 for two virtual ones where a program is started");
  const auto process_row = [](const std::string& index, const std::string& pid, std::string_view name, const std::string& memory,
                              const std::string& tensors) {
    return line(str(right(index, 3), "  ", right(pid, 9), "  ", left(name, 42), "  ", right(memory, 10), "  ", right(tensors, 10)));
  };
  out += rule('-') + process_row("GPU", "PID", "Process name", "GPU Memory", "Tensors") + rule('=');
  bool any = false;
  for (const Gpu& gpu : gpus) {
    for (const Process& process : gpu.processes) {
      out += process_row(str(gpu.index), str(process.pid), process.name, mebibytes(process.memory_used), mebibytes(process.tensor_bytes));
      any = true;
    }
  }
  if (!any) out += line("No running processes found");
  return out + rule('-');
}

std::string table() { return table(query()); }

}  // namespace tandem::smi
