// The style and the script of a report's page.
#pragma once

namespace tandem::train::detail {

/// CSS. Lines of charts are coloured by the classes c0 … c5.
extern const char* const kReportStyle;
/// JavaScript: the values under the pointer, and which mistakes belong to a cell of the confusion matrix. The page is whole without it.
extern const char* const kReportScript;

/// Colours that kReportStyle has for lines.
constexpr int kReportColors = 6;

}  // namespace tandem::train::detail
