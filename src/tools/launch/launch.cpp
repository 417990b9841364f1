// `tandem launch`: a program as several ranks, on this machine or on several.
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/number_in.h"
#include "comm/control/link.h"
#include "tools/launch/agent.h"
#include "tools/launch/job.h"
#include "tools/launch/options.h"
#include "tools/launch/start.h"
#include "tools/program.h"

namespace tandem::tools {
namespace {

/// Signals that interrupt the launcher, as a descriptor.
Descriptor interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Descriptor made(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!made) fail("[launch] no signalfd can be made: the process has too many open files");
  return made;
}

/// The address under which agents find this machine.
std::string address_for(const Hosts& hosts) {
  for (const std::string& name : hosts.names) {
    const std::string ip = comm::control::resolve(name);
    if (ip.empty() || ip.starts_with("127.")) continue;
    if (std::string own = comm::control::address_towards(ip); !own.empty()) return own;
  }
  throw UsageError(
      "launch: the hosts' names lead to no address, so that it cannot be told which of this machine's they reach it by: give it with "
      "--address");
}

/// Fills in what follows from other options; UsageError where they do not go together.
void complete(LaunchOptions& options) {
  if (options.program.empty()) throw UsageError("launch: which program? `tandem launch -n 4 ./train` starts ./train four times");
  if (!options.hosts.empty()) {
    const Hosts hosts = read_hosts(options.hosts);
    options.mpi = true;
    if (options.ranks == 0) options.ranks = hosts.slots;
    if (options.ranks > hosts.slots)
      throw UsageError(str("launch: -n ", options.ranks, " is more than the ", hosts.slots, " slots of ", options.hosts,
                           ": write slots=N behind a host that takes N ranks"));
    if (options.address.empty()) options.address = address_for(hosts);
  }
  if (options.ranks == 0) throw UsageError("launch: how many ranks? give -n N, or --hosts FILE");
  if (options.address.empty()) options.address = "127.0.0.1";
  if (options.mpi) require_mpirun();
  if (!options.recorders.empty()) std::filesystem::create_directories(options.recorders);
}

}  // namespace

Hosts read_hosts(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(str("launch: --hosts: ", file, " cannot be read"));
  Hosts hosts;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, word;
    if (!(words >> name)) continue;
    int slots = 1;
    while (words >> word) {
      if (!word.starts_with("slots=") && !word.starts_with("max_slots=") && !word.starts_with("max-slots="))
        throw UsageError(str("launch: ", file, ":", number, ": '", word, "' is not understood; a line is a host's name and slots=N"));
      const int value = detail::number_in<int>(std::string_view(word).substr(word.find('=') + 1)).value_or(0);
      if (value < 1) throw UsageError(str("launch: ", file, ":", number, ": '", word, "' needs a whole number from 1 on"));
      if (word.starts_with("slots=")) slots = value;
    }
    hosts.names.push_back(name);
    hosts.slots += slots;
  }
  if (hosts.names.empty()) throw UsageError(str("launch: ", file, " names no host; a line is a host's name and slots=N"));
  return hosts;
}

int run_launch(const LaunchOptions& options) {
  const Descriptor signals = interrupts();
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGTSTP, SIG_IGN);  // a launcher that stands still is silent, which ends its ranks
  for (int restart = 0;; ++restart) {
    JobOutcome outcome;
    {
      Printer printer;
      outcome = Job(options, printer, signals.get(), restart).run();
    }  // all is written
    if (outcome.error.empty()) return 0;
    if (outcome.interrupted || restart == options.restarts) {
      std::cerr << "tandem: launch: " << outcome.error << std::endl;
      return outcome.status;
    }
    std::cerr << "tandem: launch: " << outcome.error << "; restart " << restart + 1 << " of " << options.restarts << std::endl;
  }
}

namespace {

/// A program of Python's is started by Python, whose output is not to wait in a buffer.
std::vector<std::string> with_interpreter(std::vector<std::string> program) {
  if (program.empty() || !program[0].ends_with(".py")) return program;
  const char* const python = std::getenv("TANDEM_PYTHON");
  program.insert(program.begin(), {python && *python ? python : "python3", "-u"});
  return program;
}

}  // namespace

void add_launch(CLI::App& app, Action& action) {
  CLI::App* launch = app.add_subcommand("launch", "Run a program as several ranks: tandem launch -n 4 [OPTIONS] PROGRAM [ARGUMENTS]");
  launch->footer(
      "Each rank finds RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT and TANDEM_LAUNCH_RESTART\n"
      "in its environment. When one fails, all are ended, and its exit status is that of tandem.");
  launch->prefix_command();
  const auto options = std::make_shared<LaunchOptions>();
  const auto agent = std::make_shared<bool>(false);
  const auto seconds = [&](const char* name, int64_t& ms, const char* help) {
    launch
        ->add_option_function<double>(
            name, [&ms](const double& value) { ms = static_cast<int64_t>(value * 1000); }, help)
        ->check(number_between(0, 1e6))
        ->type_name("SECONDS");
  };
  launch->add_option("-n,--ranks", options->ranks, "How many ranks; with --hosts all their slots unless given")
      ->check(whole_number_from(1, 1 << 16))
      ->type_name("N");
  launch->add_option("--hosts", options->hosts, "Hosts to run on, a line each: a name and slots=N; they are reached by mpirun")
      ->type_name("FILE");
  launch->add_flag("--mpi", options->mpi, "Start the ranks by mpirun on this machine, too");
  launch->add_option("--gpus-per-rank", options->gpus_per_rank, "So many GPUs for each rank, which sees no others")
      ->check(whole_number_from(1, 1024))
      ->type_name("K");
  launch->add_option("--restarts", options->restarts, "Start all again when a rank has failed, up to K times")
      ->check(whole_number_from(0, kMostInt))
      ->type_name("K");
  launch->add_option("--address", options->address, "The IPv4 address of this machine by which hosts reach it")->type_name("IP");
  launch->add_option("--env", options->variables, "A variable that ranks on other hosts get too; may be repeated")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  seconds("--start-within", options->start_ms, "Time for all hosts to answer (60)");
  seconds("--lost-after", options->lost_after_ms, "A host that is silent for so long is lost; 0: never (15)");
  seconds("--grace", options->grace_ms, "Time that ranks get to end by themselves when one has failed (5)");
  launch->add_option("--recorders", options->recorders, "Where to write each rank's last collectives when one has failed")
      ->type_name("FOLDER");
  launch->add_flag("--agent", *agent, "Be the agent of one rank")->group("");
  launch->callback([launch, options, agent, &action] {
    action = [launch, options, agent] {
      options->program = program_of(*launch);
      if (*agent) return run_agent(options->program);
      options->program = with_interpreter(std::move(options->program));
      complete(*options);
      return run_launch(*options);
    };
  });
}

}  // namespace tandem::tools
