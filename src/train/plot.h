// Curves as a picture made of characters: dots of braille patterns, or plain characters where there are none.
#pragma once

#include <string>

#include "train/board.h"

namespace tandem::train {

/// `series` in `height` lines of `width` columns, each ended by a newline: a legend, the curves, the axes. Sizes below 24 by 6 count as
/// those. Points that are no finite numbers are left out, and the line breaks there. Of "lr" the legend tells the last value: it is on
/// another scale than what is drawn.
[[nodiscard]] std::string plot(const ProgressBoard::Series& series, int width, int height, PlotOptions options = {});

}  // namespace tandem::train
