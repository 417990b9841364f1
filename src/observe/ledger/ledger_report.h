// The ledger's table: entries of one line and kind add up.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "observe/ledger/ledger.h"

namespace tandem::ledger::detail {

/// What entries have in common that stand in one row.
using RowKey = std::tuple<std::string_view, int, Kind, std::string_view, std::string_view, bool, bool, int, int>;

/// Sums of entries, one row a line and kind: as large as the program, however long it runs.
class Table {
 public:
  void add(const Entry& entry);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// As ledger::report.
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    Entry first;
    size_t count = 0, bytes = 0;
    std::chrono::nanoseconds waited{};
  };
  std::map<RowKey, Row> rows_;
};

}  // namespace tandem::ledger::detail
