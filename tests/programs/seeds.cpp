// env: TANDEM_VIRTUAL_GPUS=2x64MiB
// Where random numbers begin: by chance, by TANDEM_SEED or by manual_seed; in ranks, in workers, and on each device.
#include <tandem/tandem.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "check.h"

namespace td = tandem;
namespace mp = td::multiprocessing;

namespace {

std::string numbers(td::Device device) {
  std::string text;
  const td::Tensor drawn = td::rand({3}, {.dtype = td::kFloat64, .device = device}).cpu();
  for (int i = 0; i < 3; ++i) text += td::str(drawn.data_ptr<double>()[i], " ");
  return text;
}

void draw(mp::Queue<std::string> queue) { queue.put(td::str(td::initial_seed(), " ", numbers(td::cpu()))); }

/// What a program shows that sets no seed: a line for its seed, for each device, and for each worker in their order.
int show(bool workers) {
  std::cout << td::initial_seed() << "\n";
  for (const td::Device device : {td::cpu(), td::gpu(0), td::gpu(1)}) std::cout << numbers(device) << "\n";
  if (workers) {
    mp::Queue<std::string> queue;
    for (int i = 0; i < 2; ++i) {
      mp::Process process(draw, queue);
      process.start();
      std::cout << queue.get() << "\n";
      process.join();
    }
  }
  return 0;
}

/// The lines of such a program, with variables such as "TANDEM_SEED=3" set.
std::vector<std::string> run(const std::string& variables, const char* what = "show") {
  const std::string command =
      "env -u TANDEM_SEED -u RANK -u OMPI_COMM_WORLD_RANK " + variables + " /proc/" + std::to_string(getpid()) + "/exe " + what + " 2>&1";
  std::vector<std::string> lines;
  FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> line{};
  while (pipe && std::fgets(line.data(), line.size(), pipe)) lines.emplace_back(line.data());
  if (pipe) pclose(pipe);
  return lines;
}

/// Whether no line is in two of them, or twice in one.
bool all_differ(const std::vector<std::vector<std::string>>& runs) {
  std::set<std::string> met;
  size_t count = 0;
  for (const auto& lines : runs) {
    met.insert(lines.begin(), lines.end());
    count += lines.size();
  }
  return met.size() == count && count > 0;
}

}  // namespace

int main(int argc, char** argv) {
  mp::init(argc, argv);
  if (argc > 1) {
    try {
      return show(std::string(argv[1]) == "workers");
    } catch (const td::Error& error) {
      std::cout << error.message() << "\n";
      return 1;
    }
  }

  // Nothing is set: no two processes, workers or devices draw the same.
  const auto first = run("", "workers"), second = run("", "workers");
  CHECK(first.size() == 6 && second.size() == 6);
  CHECK(all_differ({first, second}));
  // The seed that such a program names gives all of it again, but for its workers.
  const auto again = run("TANDEM_SEED=" + first.at(0).substr(0, first[0].size() - 1));
  CHECK(again == std::vector<std::string>(first.begin(), first.begin() + 4));

  // TANDEM_SEED: the same in each run, workers included, each of which draws its own.
  const auto seeded = run("TANDEM_SEED=7", "workers");
  CHECK(seeded.size() == 6 && seeded.at(0) == "7\n");
  CHECK(seeded == run("TANDEM_SEED=7", "workers"));
  CHECK(all_differ({seeded, run("TANDEM_SEED=8", "workers")}));
  // And so does each rank; the first has the number itself.
  CHECK(run("TANDEM_SEED=7 RANK=0") == run("TANDEM_SEED=7"));
  CHECK(run("TANDEM_SEED=7 RANK=1") == run("TANDEM_SEED=7 RANK=1"));
  CHECK(run("TANDEM_SEED=7 RANK=1") == run("TANDEM_SEED=7 OMPI_COMM_WORLD_RANK=1"));
  CHECK(all_differ({run("TANDEM_SEED=7 RANK=0"), run("TANDEM_SEED=7 RANK=1"), run("TANDEM_SEED=7 RANK=2"), run("TANDEM_SEED=8")}));
  for (const std::string wrong : {"seven", "-1", "7.5", "99999999999999999999"}) {
    const auto said = run("TANDEM_SEED=" + wrong);
    CHECK(said.size() == 1 && said.at(0) == "TANDEM_SEED must be a number from 0 to 18446744073709551615, not '" + wrong + "'\n");
  }

  // manual_seed: the same numbers on every device.
  td::manual_seed(3);
  CHECK(td::initial_seed() == 3);
  const std::string here = numbers(td::cpu());
  CHECK(numbers(td::gpu(0)) == here && numbers(td::gpu(1)) == here);
  CHECK(numbers(td::cpu()) != here);
  return finish();
}
