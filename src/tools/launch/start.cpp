#include "tools/launch/start.h"

#include <unistd.h>

#include <array>

#include "base/env.h"
#include "base/error.h"
#include "tools/launch/agent.h"

namespace tandem::tools {
namespace {

/// This program, as an agent of what is to be run.
std::vector<std::string> agent_command(const LaunchOptions& options) {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0 || static_cast<size_t>(size) == path.size()) fail("[launch] this program cannot find its own file");
  std::vector<std::string> command = {std::string(path.data(), static_cast<size_t>(size)), "launch", "--agent"};
  command.insert(command.end(), options.program.begin(), options.program.end());
  return command;
}

/// Variables that a rank on another host gets, because programs of tandem, MPI or NVIDIA's libraries read them.
bool goes_along(std::string_view name) {
  for (const std::string_view beginning : {"TANDEM_", "NCCL_", "OMP_"})
    if (name.starts_with(beginning)) return true;
  return name == "CUDA_VISIBLE_DEVICES" || name == "LD_LIBRARY_PATH";
}

}  // namespace

std::unique_ptr<Child> start_agent(const LaunchOptions& options, Variables variables, int rank) {
  variables[kRankVariable] = std::to_string(rank);
  variables[kWorldVariable] = std::to_string(options.ranks);
  return std::make_unique<Child>(ChildOptions{agent_command(options), std::move(variables)});
}

std::unique_ptr<Child> start_mpirun(const LaunchOptions& options, Variables variables, int output) {
  std::vector<std::string> command = {"mpirun", "-n", std::to_string(options.ranks), "--bind-to", "none"};
  const auto add = [&](std::initializer_list<const char*> more) { command.insert(command.end(), more.begin(), more.end()); };
  if (geteuid() == 0) add({"--allow-run-as-root"});
  if (options.hosts.empty()) add({"--oversubscribe"});
  else add({"--hostfile", options.hosts.c_str()});
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    if (goes_along(name) && !variables.contains(name)) add({"-x", name.c_str()});
  }
  for (const auto& [name, value] : variables) add({"-x", name.c_str()});
  for (const std::string& name : options.variables) add({"-x", name.c_str()});
  for (const std::string& part : agent_command(options)) command.push_back(part);
  return std::make_unique<Child>(ChildOptions{std::move(command), std::move(variables), output, output});
}

void require_mpirun() {
  const std::string path = environment("PATH").value_or("/usr/bin:/bin");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (access((path.substr(begin, end - begin) + "/mpirun").c_str(), X_OK) == 0) return;
    begin = end + 1;
  }
  fail("[launch] there is no mpirun in PATH, which starts ranks on other hosts: install OpenMPI (apt-get install openmpi-bin)");
}

}  // namespace tandem::tools
