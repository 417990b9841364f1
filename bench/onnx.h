// `./dev bench onnx`: what one inference of an ONNX graph takes.
#pragma once

#include <string>
#include <vector>

namespace tandem::bench {

struct BenchOnnxOptions {
  std::vector<std::string> models;  // ONNX files
  std::string data;                 // a folder with NUMBER.npz for each, whose arrays are its inputs and its outputs, by name
  int threads = 0;                  // of the thread pool; 0 leaves it as it is
  double ms = 1000;                 // about how long each is measured
};

/// Runs each model on the inputs of its file, compiled where it has one input; measures that where the outputs are the file's, and prints a
/// JSON document. Returns the program's exit status: 0, or 3 where an output differs.
int bench_onnx(const BenchOnnxOptions& options);

}  // namespace tandem::bench
