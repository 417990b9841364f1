// Pieces of HTML that the page of the memory is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/memory/memory_history.h"
#include "observe/memory/memory_page_lines.h"

namespace tandem::cuda::memory::detail {

/// The page's style.
extern const char* const kPageStyle;

/// What finds events in the lists that events_panels leaves in the page.
extern const char* const kEventsScript;

/// "train.cpp:33", escaped, the whole path as its title; where no line is known, that.
[[nodiscard]] std::string line_cell(const std::string& file, int line);
/// The same without a title.
[[nodiscard]] std::string line_words(const std::string& file, int line);
/// "12.3 %".
[[nodiscard]] std::string percent(size_t part, size_t whole);
/// "0x7f0d4bf0".
[[nodiscard]] std::string address_text(uintptr_t address);
/// "1 block", "2 blocks".
[[nodiscard]] std::string plural(size_t count, const char* what);
/// "0.0123".
[[nodiscard]] std::string seconds_text(double value);
/// A head and rows of cells that are HTML already.
[[nodiscard]] std::string table(const std::string& caption, const std::vector<std::string>& head,
                                const std::vector<std::vector<std::string>>& rows);

/// What lines held over time, who held most when most was held, and all of it as numbers.
[[nodiscard]] std::string over_time_panels(const OverTime& all, size_t events);

/// The latest events of a device, and fields that choose among all of them. Nothing where there are none.
[[nodiscard]] std::string events_panels(const std::string& device, const std::vector<HistoryEntry>& events);

}  // namespace tandem::cuda::memory::detail
