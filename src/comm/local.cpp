#include "comm/local.h"

#include "base/env.h"
#include "base/error.h"
#include "comm/local_backend.h"

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

std::unique_ptr<Backend> make_local_backend(const Start& start) {
  if (start.size == 1) return std::make_unique<LocalBackend>(make_thread_team(1), 0);
  fail("[init_process_group] processes cannot meet yet");
}

}  // namespace tandem::comm
