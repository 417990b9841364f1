#include "cell.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

namespace fuzz {
namespace {

constexpr std::array<const char*, kKinds> kKindNames = {"DataParallel", "DDP", "ZeRO1", "ZeRO2", "FSDP"};

struct Row {
  const char* name;   // on the command line
  const char* title;  // in the table
};
constexpr std::array<Row, kOptions> kRows = {{
    {"accumulation", "several backwards a step"},
    {"no_sync", "the same, in `no_sync` but for the last"},
    {"clipping", "`clip_grad_norm_`"},
    {"scaler", "`GradScaler`, an infinity on one rank"},
    {"frozen", "parameters that require no gradient"},
    {"shared", "tied parameters"},
    {"unused", "parameters that no rank uses"},
    {"partly_used", "parameters that some ranks use"},
    {"twice", "a layer that is called twice"},
    {"between", "forwards without gradients in between"},
    {"uneven", "ranks with fewer samples, in the last batch"},
    {"join", "ranks without a last batch, in `join`"},
    {"batch_norm", "`BatchNorm`, a rank's own statistics"},
    {"sync_batch_norm", "`convert_sync_batchnorm`"},
    {"schedule", "schedules of the learning rate"},
    {"average", "an average of the parameters (EMA)"},
    {"penalty", "gradient penalty (`create_graph`)"},
    {"checkpoint", "saved by n ranks, read by m"},
    {"resume", "saved and read by n ranks"},
}};

constexpr Entry kHolds{};
constexpr Entry kNone{Entry::What::IsNone, "", ""};
constexpr Entry remark(const char* text) { return {Entry::What::Holds, text, ""}; }
constexpr Entry error(const char* text) { return {Entry::What::IsError, "", text}; }

}  // namespace

Entry entry_of(Kind kind, Option option) {
  const bool ddp = kind == Kind::Ddp || kind == Kind::Zero1;
  switch (option) {
    case Option::NoSync: return ddp ? kHolds : kNone;
    case Option::Join: return kind == Kind::Ddp ? kHolds : kind == Kind::Zero1 ? error("ranks differ") : kNone;
    case Option::Unused:
      if (ddp) return remark("with `find_unused_parameters`");
      return kind == Kind::Fsdp ? remark("with a gradient of zero where another of the unit has one") : kHolds;
    case Option::PartlyUsed:
      if (ddp) return remark("with `find_unused_parameters`");
      return kind == Kind::Fsdp ? Entry{Entry::What::MayEnd, "in a unit that all ranks call", "ranks differ"} : kHolds;
    case Option::BatchNorm: return kind == Kind::Zero2 ? remark("each rank keeps figures of its own") : remark("the figures are rank 0's");
    case Option::SyncBatchNorm:
      return kind == Kind::DataParallel ? error("is a SyncBatchNorm, whose statistics are those of all ranks") : kHolds;
    case Option::Penalty: return kind == Kind::Fsdp ? error("create_graph and parameters in shards do not go together") : kHolds;
    default: return kHolds;
  }
}

Errors errors_of(const Cell& cell) {
  Errors errors;
  for (int o = 0; o < kOptions; ++o) {
    const auto option = static_cast<Option>(o);
    if (!cell.has(option)) continue;
    const Entry entry = entry_of(cell.kind, option);
    if (entry.what == Entry::What::IsError) errors.must.emplace_back(entry.error);
    if (entry.what == Entry::What::MayEnd) errors.may.emplace_back(entry.error);
  }
  if (cell.has(Option::SyncBatchNorm) && cell.has(Option::Penalty)) errors.must.emplace_back("a gradient of its gradient is not supported");
  // A rank's gradients are full at another time where it did not use a layer, before or behind the statistics that all ranks take part in.
  if (cell.has(Option::SyncBatchNorm) && cell.has(Option::PartlyUsed)) errors.may.emplace_back("ranks differ");
  return errors;
}

std::string table() {
  std::string text = "| |";
  for (const char* name : kKindNames) text += std::string(" ") + name + " |";
  text += "\n|---|";
  for (int k = 0; k < kKinds; ++k) text += "---|";
  for (int o = 0; o < kOptions; ++o) {
    text += std::string("\n| ") + kRows[static_cast<size_t>(o)].title + " |";
    for (int k = 0; k < kKinds; ++k) {
      const Entry entry = entry_of(static_cast<Kind>(k), static_cast<Option>(o));
      switch (entry.what) {
        case Entry::What::MayEnd: text += std::string(" yes, ") + entry.text + "; else error: \"" + entry.error + "\" |"; break;
        case Entry::What::Holds: text += entry.text[0] ? std::string(" yes, ") + entry.text + " |" : std::string(" yes |"); break;
        case Entry::What::IsError: text += std::string(" error: \"") + entry.error + "\" |"; break;
        default: text += " - |";
      }
    }
  }
  return text + "\n";
}

const char* name_of(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }
const char* name_of(Option option) { return kRows[static_cast<size_t>(option)].name; }

std::string to_string(const Cell& cell) {
  std::string text = name_of(cell.kind);
  for (int o = 0; o < kOptions; ++o)
    if (cell.has(static_cast<Option>(o))) text += std::string(" ") + name_of(static_cast<Option>(o));
  text += " ranks=" + std::to_string(cell.ranks);
  if (cell.has_two_parts()) text += " read_by=" + std::to_string(cell.read_by);
  if (cell.processes) text += " processes";
  if (cell.gpus) text += " gpus";
  text += cell.adam ? " AdamW" : " SGD";
  if (cell.float32) text += " float32";
  return text + " seed=" + std::to_string(cell.seed);
}

Cell cell_of(const std::string& text) {
  Cell cell;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto number = [&](const char* prefix) -> const char* {
      return word.rfind(prefix, 0) == 0 ? word.c_str() + std::char_traits<char>::length(prefix) : nullptr;
    };
    const auto kind = std::find(kKindNames.begin(), kKindNames.end(), word);
    const auto option = std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return word == row.name; });
    if (kind != kKindNames.end()) cell.kind = static_cast<Kind>(kind - kKindNames.begin());
    else if (option != kRows.end()) cell.add(static_cast<Option>(option - kRows.begin()));
    else if (const char* ranks = number("ranks=")) cell.ranks = cell.read_by = std::stoi(ranks);
    else if (const char* read_by = number("read_by=")) cell.read_by = std::stoi(read_by);
    else if (const char* seed = number("seed=")) cell.seed = std::stoull(seed);
    else if (word == "processes") cell.processes = true;
    else if (word == "gpus") cell.gpus = true;
    else if (word == "AdamW") cell.adam = true;
    else if (word == "float32") cell.float32 = true;
    else if (word != "SGD") throw std::invalid_argument("a cell has no '" + word + "'");
  }
  if (cell.ranks < 2 || cell.ranks > 4 || cell.read_by < 2 || cell.read_by > 4) throw std::invalid_argument("a cell has 2 to 4 ranks");
  return cell;
}

namespace {

/// The cell, in float64 where its float32 says nothing: statistics of a rank's three rows or two enlarge a rounding a hundredfold in each
/// layer.
Cell fits_float32(Cell cell) {
  if (cell.has(Option::BatchNorm) && cell.ranks > 2) cell.float32 = false;
  return cell;
}

}  // namespace

Cell table_cell(Kind kind, Option option, uint64_t seed, bool processes) {
  Draws draws(seed * 131 + static_cast<uint64_t>(kind) * 29 + static_cast<uint64_t>(option));
  Cell cell;
  cell.kind = kind;
  cell.add(option);
  cell.ranks = 2 + draws.below(3);
  cell.read_by = cell.has(Option::Checkpoint) ? 2 + (cell.ranks - 2 + 1 + draws.below(2)) % 3 : cell.ranks;
  cell.processes = processes && kind != Kind::DataParallel;
  cell.gpus = kind == Kind::DataParallel || (!cell.processes && draws.one_in(4));
  cell.adam = draws.one_in(2);
  cell.float32 = draws.one_in(5);
  cell.seed = 1 + static_cast<uint64_t>(draws.below(1000000));
  return fits_float32(cell);
}

Cell random_cell(uint64_t seed, bool processes) {
  Draws draws(seed + 4242);
  const auto kind = static_cast<Kind>(processes ? 1 + draws.below(kKinds - 1) : draws.below(kKinds));
  const bool with_errors = draws.one_in(10);
  Cell cell;
  for (const int count = 2 + draws.below(4);;) {
    uint32_t options = 0;
    for (int i = 0; i < count; ++i) options |= 1U << draws.below(kOptions);
    cell = table_cell(kind, static_cast<Option>(0), seed, processes);
    cell.options = options;
    cell = fits_float32(cell);
    cell.read_by = cell.has(Option::Checkpoint) ? 2 + draws.below(3) : cell.ranks;
    bool fits = with_errors || errors_of(cell).must.empty();
    for (int o = 0; o < kOptions; ++o)
      fits &= !cell.has(static_cast<Option>(o)) || entry_of(kind, static_cast<Option>(o)).what != Entry::What::IsNone;
    // One kind of statistics; and a rank that is done takes part in no statistics.
    fits &=
        !(cell.has(Option::BatchNorm) && cell.has(Option::SyncBatchNorm)) && !(cell.has(Option::SyncBatchNorm) && cell.has(Option::Join));
    if (fits) return cell;
  }
}

}  // namespace fuzz
