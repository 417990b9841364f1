// `tandem smi`: the GPUs, virtual and real, and who uses them; as a table, as JSON or as the columns that are asked for.
#include "observe/smi/smi.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/json_text.h"
#include "observe/smi/smi_table.h"
#include "tools/did_you_mean.h"
#include "tools/program.h"
#include "train/terminal.h"

namespace tandem::tools {
namespace {

using nlohmann::ordered_json;

struct SmiOptions {
  bool json = false;
  std::optional<double> watch;  // seconds
  std::string columns, format = "csv";
};

/// A column by nvidia-smi's name.
struct Column {
  const char* name;
  const char* unit;  // in the head of the column, and behind each value
  std::string (*value)(const smi::Gpu& gpu);
};

std::string mebibytes(size_t bytes) { return str((bytes + (size_t{1} << 19)) >> 20); }
std::string number(std::optional<int> value) { return value ? str(*value) : ""; }
std::string watts(std::optional<int> milliwatts) { return milliwatts ? detail::formatted("%.2f", *milliwatts / 1000.0) : ""; }

const std::array kColumns = {
    Column{"index", "", [](const smi::Gpu& gpu) { return str(gpu.index); }},
    Column{"name", "", [](const smi::Gpu& gpu) { return gpu.name; }},
    Column{"uuid", "", [](const smi::Gpu& gpu) { return "GPU-" + gpu.uuid; }},
    Column{"program", "", [](const smi::Gpu& gpu) { return gpu.is_virtual ? str(gpu.program) : std::string(); }},
    Column{"memory.total", "MiB", [](const smi::Gpu& gpu) { return mebibytes(gpu.memory_total); }},
    Column{"memory.used", "MiB", [](const smi::Gpu& gpu) { return mebibytes(gpu.memory_used); }},
    Column{"memory.free", "MiB",
           [](const smi::Gpu& gpu) { return mebibytes(gpu.memory_total - std::min(gpu.memory_total, gpu.memory_used)); }},
    Column{"utilization.gpu", "%", [](const smi::Gpu& gpu) { return number(gpu.utilization); }},
    Column{"temperature.gpu", "", [](const smi::Gpu& gpu) { return number(gpu.temperature); }},
    Column{"power.draw", "W", [](const smi::Gpu& gpu) { return watts(gpu.power_draw); }},
};

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(part);
  }
  return parts;
}

std::vector<const Column*> columns_of(const std::string& list) {
  std::vector<const Column*> columns;
  std::vector<std::string> names;
  for (const Column& column : kColumns) names.emplace_back(column.name);
  for (const std::string& part : parts_of(list)) {
    const auto* const column = std::find_if(kColumns.begin(), kColumns.end(), [&](const Column& c) { return c.name == part; });
    if (column == kColumns.end()) {
      std::string all;
      for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
      fail<UsageError>("smi: --query-gpu has no column '", part, "'", did_you_mean(part, names), "; it has: ", all);
    }
    columns.push_back(column);
  }
  if (columns.empty()) fail<UsageError>("smi: --query-gpu names no column; give some, such as name,memory.used");
  return columns;
}

struct Format {
  bool header = true, units = true;
};
Format format_of(const std::string& list) {
  Format format;
  bool csv = false;
  for (const std::string& part : parts_of(list)) {
    if (part == "csv") csv = true;
    else if (part == "noheader") format.header = false;
    else if (part == "nounits") format.units = false;
    else fail<UsageError>("smi: --format has no '", part, "'; it is csv, with noheader and nounits behind it: csv,noheader");
  }
  if (!csv) fail<UsageError>("smi: --format is csv, with noheader and nounits behind it; it was given '", list, "'");
  return format;
}

std::string csv(const std::vector<smi::Gpu>& gpus, const std::vector<const Column*>& columns, Format format) {
  std::string out;
  const auto put = [&out](size_t i, const std::string& text) { out += (i ? ", " : "") + text; };
  for (size_t i = 0; format.header && i < columns.size(); ++i)
    put(i, columns[i]->name + (*columns[i]->unit ? str(" [", columns[i]->unit, "]") : ""));
  if (format.header) out += '\n';
  for (const smi::Gpu& gpu : gpus) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string value = columns[i]->value(gpu);
      put(i, value.empty() ? "[N/A]" : value + (format.units && *columns[i]->unit ? str(" ", columns[i]->unit) : ""));
    }
    out += '\n';
  }
  return out;
}

ordered_json described(const smi::Gpu& gpu) {
  const auto gauge = [](std::optional<int> value) { return value ? ordered_json(*value) : ordered_json(nullptr); };
  ordered_json processes = ordered_json::array();
  for (const smi::Process& process : gpu.processes)
    processes.push_back(
        {{"pid", process.pid}, {"name", process.name}, {"memory_used", process.memory_used}, {"tensor_bytes", process.tensor_bytes}});
  return {{"index", gpu.index},
          {"name", gpu.name},
          {"uuid", gpu.uuid},
          {"virtual", gpu.is_virtual},
          {"program", gpu.is_virtual ? ordered_json(gpu.program) : ordered_json(nullptr)},
          {"memory_total", gpu.memory_total},
          {"memory_used", gpu.memory_used},
          {"utilization", gauge(gpu.utilization)},
          {"temperature", gauge(gpu.temperature)},
          {"power_draw", gauge(gpu.power_draw)},
          {"processes", std::move(processes)}};
}

std::string json(const std::vector<smi::Gpu>& gpus, int indent) {
  ordered_json all = ordered_json::array();
  for (const smi::Gpu& gpu : gpus) all.push_back(described(gpu));
  return detail::json_text(ordered_json{{"gpus", std::move(all)}}, indent) + "\n";
}

/// As wide as the terminal, with bars and colours; what is written elsewhere has the form of nvidia-smi's.
std::string table(const std::vector<smi::Gpu>& gpus) {
  const train::Terminal terminal = train::terminal_of(STDOUT_FILENO);
  if (!terminal.interactive) return smi::table(gpus);
  return smi::detail::table(
      gpus, {.width = static_cast<size_t>(terminal.width), .bars = true, .unicode = terminal.unicode, .color = terminal.color});
}

int run(const SmiOptions& options) {
  const bool wants_columns = !options.columns.empty();
  const auto columns = wants_columns ? columns_of(options.columns) : std::vector<const Column*>();
  Format format = format_of(options.format);
  const bool redraws = options.watch && !options.json && !wants_columns && isatty(STDOUT_FILENO);
  for (;;) {
    const std::vector<smi::Gpu> gpus = smi::query_all();
    if (redraws) std::cout << "\x1b[H\x1b[J";
    if (options.json) std::cout << json(gpus, options.watch ? -1 : 2);
    else if (wants_columns) std::cout << csv(gpus, columns, format);
    else std::cout << table(gpus);
    std::cout.flush();
    if (!options.watch || !std::cout) return 0;  // whoever called says that nothing can be written
    format.header = false;
    std::this_thread::sleep_for(std::chrono::duration<double>(*options.watch));
  }
}

}  // namespace

void add_smi(CLI::App& app, Action& action) {
  CLI::App* smi = app.add_subcommand("smi", "Show the GPUs, virtual ones of running programs too, and who uses them");
  const auto options = std::make_shared<SmiOptions>();
  const auto seconds = std::make_shared<double>(1.0);
  CLI::Option* const watch = smi->add_option("--watch", *seconds, "Show it again every so many seconds, 1 unless given, until Ctrl-C")
                                 ->expected(0, 1)
                                 ->check(number_between(0.05, 86400));
  CLI::Option* const json =
      smi->add_flag("--json", options->json, "Print a JSON document instead of a table; with --watch a line each time");
  CLI::Option* const columns =
      smi->add_option("--query-gpu", options->columns, "Print these columns alone, as nvidia-smi does: name,uuid,memory.used,...")
          ->excludes(json);
  smi->add_option("--format", options->format, "Of the columns: csv, with noheader and nounits behind it")->needs(columns);
  smi->callback([=, &action] {
    if (watch->count() > 0) options->watch = *seconds;
    action = [options] { return run(*options); };
  });
}

}  // namespace tandem::tools
