// Compiled modules against plain ones: random networks, changed at random between their calls. A program that ends differently on the two
// is made smaller and printed. See docs/development.md.
//   fuzz_compiled [--programs N] [--seed S] [--length N] [--no-gpus] [--keep 3,5,7]
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "network.h"
#include "program.h"

namespace {

constexpr const char* kUsage = R"(usage: fuzz_compiled [OPTIONS]
  --programs N   how many (default 200)
  --seed S       of the first; each next one has the next seed (default 1)
  --length N     steps a program (default 24)
  --no-gpus      on the CPU only
  --keep A,B     these steps only, as a finding names them
)";

struct Options {
  uint64_t programs = 200, seed = 1;
  int length = 24;
  bool gpus = true;
  std::vector<size_t> keep;
};

[[noreturn]] void misuse(const std::string& text) {
  std::fprintf(stderr, "fuzz compiled: %s\n%s", text.c_str(), kUsage);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help" || option == "-h") {
      std::printf("%s", kUsage);
      std::exit(0);
    }
    if (option == "--no-gpus") {
      options.gpus = false;
      continue;
    }
    if (i + 1 == argc) misuse(option + " needs a value");
    char* at = argv[++i];
    const auto number = [&] {
      char* end = nullptr;
      const uint64_t value = std::strtoull(at, &end, 10);
      if (end == at) misuse(option + " needs a number, not '" + at + "'");
      at = *end == ',' ? end + 1 : end;
      return value;
    };
    if (option == "--programs") options.programs = number();
    else if (option == "--seed") options.seed = number();
    else if (option == "--length") options.length = static_cast<int>(number());
    else if (option == "--keep")
      while (*at) options.keep.push_back(number());
    else misuse("there is no option '" + option + "'");
  }
  return options;
}

// For a crash: what is written then has to be ready.
char crashed[160];
extern "C" void tell_of_crash(int signal) {
  (void)!write(STDOUT_FILENO, crashed, std::strlen(crashed));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

fuzz::Report run_safely(const fuzz::Program& program) {
  try {
    return fuzz::run(program);
  } catch (const std::exception& error) {
    fuzz::Report report;
    report.wrong = std::string("an error outside of a step: ") + error.what();
    return report;
  }
}

/// The places of the steps that the failure needs.
std::vector<size_t> needed(const fuzz::Program& whole, std::vector<size_t> places) {
  const auto fails = [&](const std::vector<size_t>& some) {
    fuzz::Program program{whole.seed, {}};
    for (const size_t place : some) program.steps.push_back(whole.steps[place]);
    return !run_safely(program).wrong.empty();
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = places.size(); i-- > 0;) {
      std::vector<size_t> without = places;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fails(without)) continue;
      places = std::move(without);
      smaller = true;
    }
  }
  return places;
}

void tell(const fuzz::Program& whole, const std::vector<size_t>& places, const Options& options) {
  fuzz::Program program{whole.seed, {}};
  std::string keep;
  for (const size_t place : places) {
    program.steps.push_back(whole.steps[place]);
    keep += (keep.empty() ? "" : ",") + std::to_string(place);
  }
  const fuzz::Report report = run_safely(program);
  std::printf("program of seed %llu: %s\n", static_cast<unsigned long long>(whole.seed), report.wrong.c_str());
  for (size_t i = 0; i < report.log.size(); ++i) std::printf("  %zu %s\n", places[i], report.log[i].c_str());
  std::printf("again: fuzz_compiled --programs 1 --seed %llu --length %d%s --keep %s\n%s\n", static_cast<unsigned long long>(whole.seed),
              options.length, options.gpus ? "" : " --no-gpus", keep.c_str(), fuzz::network_of(whole.seed).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.gpus) tandem::cuda::use_virtual_gpus("1x64MiB");
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, tell_of_crash);
  uint64_t bad = 0, calls = 0, in_steps = 0;
  for (uint64_t i = 0; i < options.programs; ++i) {
    fuzz::Program program = fuzz::make_program(options.seed + i, options.length, options.gpus);
    std::snprintf(crashed, sizeof crashed, "the program of seed %llu crashed: fuzz_compiled --programs 1 --seed %llu --length %d%s\n",
                  static_cast<unsigned long long>(program.seed), static_cast<unsigned long long>(program.seed), options.length,
                  options.gpus ? "" : " --no-gpus");
    std::vector<size_t> places = options.keep;
    for (size_t step = 0; places.size() < program.steps.size() && options.keep.empty(); ++step) places.push_back(step);
    for (const size_t place : places)
      if (place >= program.steps.size()) misuse("--keep names a step that there is not");
    if (!options.keep.empty()) {
      tell(program, places, options);
      continue;
    }
    const fuzz::Report report = run_safely(program);
    calls += static_cast<uint64_t>(report.calls);
    in_steps += static_cast<uint64_t>(report.in_steps);
    if (report.wrong.empty()) continue;
    ++bad;
    places.resize(report.at + 1);
    tell(program, needed(program, places), options);
  }
  std::printf("%llu programs with %llu calls, %llu of them in compiled steps; %llu programs differ\n",
              static_cast<unsigned long long>(options.programs), static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(in_steps), static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
