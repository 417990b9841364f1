#include "comm/local/processes.h"

#include <functional>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "comm/local/backend.h"

namespace tandem::comm {

bool started_locally() { return environment("RANK") && environment("WORLD_SIZE"); }

void local_ranks(int& rank, int& size) {
  const auto number = [](const char* variable, int otherwise) {
    const auto text = environment(variable);
    if (!text) return otherwise;
    if (text->find_first_not_of("0123456789") != std::string::npos || text->size() > 6)
      fail("[init_process_group] ", variable, " must be a whole number from 0 on, but is '", *text, '\'');
    return std::stoi(*text);
  };
  rank = number("RANK", 0);
  size = number("WORLD_SIZE", 1);
}

namespace {

/// What all ranks of this job know and other jobs do not.
std::string meeting_place(const Start& start) {
  if (!start.init_method.empty()) return start.init_method;
  // A secret of the launcher's: others may see where we meet, but not that.
  if (const auto token = environment("TANDEM_LAUNCH_TOKEN"))
    return tandem::str("launch-", std::hash<std::string>()(*token + environment("TANDEM_LAUNCH_RESTART").value_or("")));
  const auto address = environment("MASTER_ADDR"), port = environment("MASTER_PORT");
  if (!address && !port)
    fail("[init_process_group] rank ", start.rank, " of ", start.size,
         " does not know where the ranks meet: give .init_method, the same name on ", "all of them, or set MASTER_ADDR and MASTER_PORT");
  return address.value_or("") + ":" + port.value_or("");
}

}  // namespace

std::unique_ptr<Backend> make_local_backend(const Start& start) {
  const auto team = start.size == 1 ? make_thread_team(1) : make_process_team(meeting_place(start), start.rank, start.size, start.timeout);
  return std::make_unique<LocalBackend>(team, start.rank);
}

}  // namespace tandem::comm
