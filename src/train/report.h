// A run as one HTML page: curves, memory, figures, mistakes, and what it was made with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/site.h"
#include "runtime/device.h"
#include "tensor/tensor.h"
#include "train/board.h"
#include "train/memory_recorder.h"

namespace tandem::train {

class Trainer;

/// An example that was put into a wrong class.
struct ReportSample {
  Tensor image;  // what io::encode_png takes
  int64_t actual = 0, predicted = 0;
  double probability = 0;  // that the model gave to what it predicted
};

/// A confusion matrix, and what it is shown with.
struct ReportConfusion {
  Tensor matrix;                      // (classes, classes) integers: actual classes in rows, predicted ones in columns
  std::vector<std::string> classes;   // their names; 0, 1, … where there are none
  std::vector<ReportSample> samples;  // as many as are to be shown
};

/// What goes into a report. What is left empty is left out.
struct Report {
  using Facts = std::vector<std::pair<std::string, std::string>>;  // names and values

  std::string title = "Training run";
  std::string subtitle;
  Facts highlights;     // shown large
  Facts configuration;  // the run's settings: those that were given
  Facts defaults;       // and those that were left as they are
  Facts devices;        // what it ran on
  ProgressBoard::Series curves;
  ProgressBoard::Series figures;  // what each epoch came to, x from 1; the means of the curves' points where there are none
  std::vector<Device> memory_devices;
  std::vector<MemorySample> memory;
  std::optional<ReportConfusion> confusion;
};

/// The report of a trainer's last fit: its curves, devices, memory and options. Fill in the rest.
[[nodiscard]] Report make_report(const Trainer& trainer);

/// The page as text: HTML that needs nothing from elsewhere, light or dark as the reader's system is. Curves and figures are there without
/// scripts, too. Error for a confusion matrix that is no square, and for classes that do not exist.
[[nodiscard]] std::string report_html(const Report& report, Site site = Site::here());
/// Writes it to `path`, whole or not at all. Error names the file.
void write_report(const std::string& path, const Report& report, Site site = Site::here());

}  // namespace tandem::train
