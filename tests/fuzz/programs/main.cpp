// The program fuzzer. Random tensor programs are run plainly on the CPU and as a user would write them, on the CPU and on virtual GPUs;
// what they compute must agree to the bit. A program that fails is made smaller and printed in C++. See docs/development.md.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>

#include "child.h"
#include "generator.h"
#include "print.h"
#include "shrink.h"

namespace fuzz {
namespace {

constexpr const char* kUsage = R"(usage: fuzz_programs [OPTIONS]
  --seconds N       stop after so much time (default 10; 0: no limit)
  --operations N    stop after so many operations (default: no limit)
  --seed S          which programs (default 1)
  --gpus N          virtual GPUs, 0 to 3 (default 3); 0: on the CPU only
  --length N        operations a program (default 60)
  --only A,B        programs of these features and creation, arithmetic and freeing only
  --without A,B     programs without these features
  --shrink N        seconds spent on making a failing program smaller (default 60)
  --json            one line of JSON in place of the summary
  --program FILE    run one program as --json and a finding give it
Features: )";

struct Options {
  double seconds = 10, shrink_seconds = 60;
  int64_t operations = 0;
  uint64_t seed = 1;
  int gpus = 3, length = 60, repeat = 1;
  uint64_t features = ~uint64_t{0};
  bool json = false;
  // a child's
  std::string worker, folder, replay, print, what, dump;
  int64_t first = 0, count = 0;
};

[[noreturn]] void misuse(const std::string& text) {
  std::fprintf(stderr, "fuzz programs: %s (--help lists the options)\n", text.c_str());
  std::exit(2);
}

int64_t integer(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || value < 0) misuse(std::string(option) + " needs a number, not '" + text + "'");
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  uint64_t without = 0;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], value;
    if (option == "--help" || option == "-h") {
      std::printf("%s%s\n", kUsage, feature_names().c_str());
      std::exit(0);
    }
    if (option == "--json") {
      options.json = true;
      continue;
    }
    if (const size_t equals = option.find('='); equals != std::string::npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    } else {
      misuse(option + " needs a value");
    }
    if (option == "--seconds") options.seconds = static_cast<double>(integer(option, value));
    else if (option == "--operations") options.operations = integer(option, value);
    else if (option == "--seed") options.seed = static_cast<uint64_t>(integer(option, value));
    else if (option == "--gpus") options.gpus = static_cast<int>(integer(option, value));
    else if (option == "--length") options.length = static_cast<int>(integer(option, value));
    else if (option == "--repeat") options.repeat = static_cast<int>(integer(option, value));
    else if (option == "--shrink") options.shrink_seconds = static_cast<double>(integer(option, value));
    else if (option == "--only") options.features = kinds_of(value) | kinds_of("Make,Unary,Binary,Free,Print");
    else if (option == "--without") without |= kinds_of(value);
    else if (option == "--program" || option == "--replay") options.replay = value;
    else if (option == "--features") options.features = std::strtoull(value.c_str(), nullptr, 10);
    else if (option == "--worker") options.worker = value;
    else if (option == "--dump") options.dump = value;
    else if (option == "--print") options.print = value;
    else if (option == "--what") options.what = value;
    else if (option == "--folder") options.folder = value;
    else if (option == "--first") options.first = integer(option, value);
    else if (option == "--count") options.count = integer(option, value);
    else misuse("there is no option '" + option + "'");
  }
  options.features &= ~without;
  if (options.gpus > 3) misuse("--gpus goes up to 3");
  return options;
}

uint64_t program_seed(const Options& options, int64_t index) { return options.seed * 1000003 + static_cast<uint64_t>(index); }

std::string virtual_gpus(int gpus, int64_t delay_seed) {
  std::string text = std::to_string(gpus) + "x64MiB";
  if (delay_seed > 0) text += ",delay_seed=" + std::to_string(delay_seed);
  return text;
}

Outcome run(const Program& program, int gpus, const std::string& folder) {
  int highest = 0;
  for (const Operation& o : program) highest = std::max(highest, o.number);
  Machine machine({.plain = false, .gpus = gpus, .folder = folder}, highest);
  for (const Operation& o : program) machine.step(o);
  return machine.finish();
}

/// Some programs of the seed; 1 after a difference, which is printed.
int work(const Options& options) {
  Progress& progress = map_progress(options.folder + "/progress");
  if (options.gpus > 0) tandem::cuda::use_virtual_gpus(virtual_gpus(options.gpus, options.repeat));
  for (int64_t i = options.first; i < options.first + options.count; ++i) {
    progress.program = i;
    const Generated made =
        generate(program_seed(options, i), {.operations = options.length, .features = options.features, .folder = options.folder});
    for (const int gpus : {0, options.gpus}) {
      const std::string found = difference(made.expected, run(made.program, gpus, options.folder));
      if (!found.empty()) {
        std::printf("%s: %s\n", gpus ? "on virtual GPUs" : "on the CPU", found.c_str());
        return 1;
      }
      if (options.gpus == 0) break;
    }
    progress.operations = progress.operations + static_cast<int64_t>(made.program.size());
    progress.programs = progress.programs + 1;
  }
  return 0;
}

Program program_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) misuse("there is no file " + path);
  return read_program(in);
}

int replay_file(const Options& options) {
  const std::string folder = options.folder.empty() ? "." : options.folder;
  Progress* progress = options.folder.empty() ? nullptr : &map_progress(folder + "/progress");
  if (options.gpus > 0) tandem::cuda::use_virtual_gpus(virtual_gpus(options.gpus, 7));
  const Generated made = resolve(program_of(options.replay), options.gpus, folder);
  for (int i = 0; i < options.repeat; ++i) {
    if (progress) progress->program = progress->program + 1;
    const std::string found = difference(made.expected, run(made.program, options.gpus, folder));
    if (found.empty()) continue;
    std::printf("%s\n", found.c_str());
    return 1;
  }
  return 0;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (static_cast<unsigned char>(c) < 32) out += ' ';
    else out += c;
  }
  return out + "\"";
}

struct Finding {
  int64_t program = -1, operations = 0;
  std::string what;
  Failure failure;
  std::string text;
};

Finding look_into(const Options& options, Children& children, const ChildResult& result, int64_t index, int64_t operations) {
  Finding finding{.program = index, .operations = operations, .what = result.what, .failure = {}, .text = {}};
  const std::string path = children.folder() + "/dump";
  const ChildResult dumped = children.run({"--dump", path, "--seed", std::to_string(options.seed), "--first", std::to_string(index),
                                           "--length", std::to_string(options.length), "--features", std::to_string(options.features)},
                                          20);
  if (!dumped.good) {
    finding.what += " (while the program was made: " + dumped.what + ")";
    return finding;
  }
  finding.failure = shrink(children, {.program = program_of(path), .gpus = options.gpus, .what = result.what}, options.shrink_seconds);
  {
    std::ofstream out(path);
    write(out, finding.failure.program);
  }
  finding.text = children.run({"--print", path, "--gpus", std::to_string(finding.failure.gpus), "--what", finding.failure.what}, 20).output;
  return finding;
}

int drive(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  std::string folder = (access("/dev/shm", W_OK) == 0 ? std::string("/dev/shm") : std::string(".")) + "/fuzz_programs.XXXXXX";
  if (!mkdtemp(folder.data())) misuse("no folder could be made");
  std::optional<Finding> finding;
  int64_t operations = 0, programs = 0;
  {
    Children children(folder);
    for (int64_t batch = 0;
         (options.seconds <= 0 || seconds() < options.seconds) && (options.operations == 0 || operations < options.operations); ++batch) {
      // Small batches at first, so that a short run sees several delays.
      int64_t count = batch < 3 ? 20 : 100;
      if (options.operations) count = std::min(count, (options.operations - operations) / options.length + 1);
      const int64_t first = programs;
      const ChildResult result =
          children.run({"--worker", "1", "--seed", std::to_string(options.seed), "--first", std::to_string(first), "--count",
                        std::to_string(count), "--gpus", std::to_string(options.gpus), "--length", std::to_string(options.length),
                        "--features", std::to_string(options.features), "--repeat", std::to_string(batch % 4 == 0 ? 0 : batch)},
                       20);
      operations = children.progress().operations;
      if (!result.good) {
        const int64_t at = children.progress().program;
        finding = look_into(options, children, result, at, operations + options.length);
        break;
      }
      programs += count;
    }
  }
  if (std::system(("rm -rf '" + folder + "'").c_str()) != 0) std::fprintf(stderr, "%s is left\n", folder.c_str());
  if (options.json) {
    std::printf("{\"seed\": %llu, \"gpus\": %d, \"operations\": %lld, \"programs\": %lld, \"seconds\": %.1f, \"findings\": [",
                static_cast<unsigned long long>(options.seed), options.gpus, static_cast<long long>(operations),
                static_cast<long long>(programs), seconds());
    if (finding)
      std::printf("{\"program\": %lld, \"operations\": %lld, \"what\": %s, \"shrunk_to\": %zu, \"gpus\": %d, \"cpp\": %s}",
                  static_cast<long long>(finding->program), static_cast<long long>(finding->operations),
                  json_text(finding->failure.what).c_str(), finding->failure.program.size(), finding->failure.gpus,
                  json_text(finding->text).c_str());
    std::printf("]}\n");
  } else {
    if (finding) {
      std::printf("program %lld of seed %llu, after %lld operations: %s\n", static_cast<long long>(finding->program),
                  static_cast<unsigned long long>(options.seed), static_cast<long long>(finding->operations), finding->what.c_str());
      std::printf("made smaller to %zu operations, on %d virtual GPUs: %s\n\n%s\n", finding->failure.program.size(), finding->failure.gpus,
                  finding->failure.what.c_str(), finding->text.c_str());
      write(std::cout, finding->failure.program);
    }
    std::printf("fuzz programs: %lld operations in %lld programs on the CPU and %d virtual GPUs, seed %llu, %.0f s: %s\n",
                static_cast<long long>(operations), static_cast<long long>(programs), options.gpus,
                static_cast<unsigned long long>(options.seed), seconds(), finding ? "a difference" : "no difference");
  }
  return finding ? 1 : 0;
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) {
  using namespace fuzz;
  const Options options = parse(argc, argv);
  if (!options.worker.empty()) return work(options);
  if (!options.dump.empty()) {
    std::ofstream out(options.dump);
    write(out, generate(program_seed(options, options.first),
                        {.operations = options.length, .features = options.features, .folder = options.folder})
                   .program);
    return 0;
  }
  if (!options.print.empty()) {
    print(std::cout, program_of(options.print), options.gpus, options.what);
    return 0;
  }
  if (!options.replay.empty()) return replay_file(options);
  return drive(options);
}
