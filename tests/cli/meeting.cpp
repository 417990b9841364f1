// A program that `tandem launch` starts in launch_many.sh: ranks that meet once, or of which rank 1 goes wrong in the way that the argument
// names while the others wait for it.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tandem.h"

namespace td = tandem;
namespace dist = td::distributed;

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* const number = std::getenv("RANK");
  if (what == "absent" && number && number[0] == '1') return 0;
  try {
    dist::init_process_group("local", {.timeout = std::chrono::seconds(what == "absent" ? 2 : 120)});
    const int rank = dist::get_rank(), world = dist::get_world_size();
    const auto t = td::full({1}, 1. + rank, {.dtype = td::kInt64});
    dist::all_reduce(t);
    if (t.item<int64_t>() != static_cast<int64_t>(world) * (world + 1) / 2) return 2;
    if (rank == 1 && what == "ends") return 0;  // as if it had nothing more to do
    if (rank == 1 && what == "leaves") {
      dist::destroy_process_group();
      std::this_thread::sleep_for(std::chrono::seconds(10));
      return 0;
    }
    if (rank == 1 && what == "killed") std::abort();
    if (!what.empty()) dist::all_reduce(t);
    dist::destroy_process_group();
    return 0;
  } catch (const td::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
