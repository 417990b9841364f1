// `tandem bench`: measurements. See docs/benchmarks.md for the comparison that is made of them.
#include <memory>

#include "tools/bench_micro.h"
#include "tools/command.h"

namespace tandem::tools {

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine");
  bench->require_subcommand(1);
  CLI::App* micro = bench->add_subcommand("micro", "What the smallest things cost: an empty tensor, an addition, a step of training");
  const auto options = std::make_shared<BenchMicroOptions>();
  micro->add_flag("--json", options->json, "Print a JSON document instead of a table");
  micro->add_option("--only", options->only, "Measure only these cases (may be given several times)")->type_name("NAME");
  micro->add_option("--threads", options->threads, "Threads to compute with; 0 leaves the number as it is")
      ->capture_default_str()
      ->check(whole_number_from(0));
  micro->add_option("--ms", options->ms, "About how long to measure each case, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  micro->callback([options, &action] { action = [options] { return bench_micro(*options); }; });
}

}  // namespace tandem::tools
