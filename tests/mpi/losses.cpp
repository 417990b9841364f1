// A program whose rank 1 goes wrong in the way that its argument names, while the others wait for it. Each rank prints the error it gets.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tandem.h"

namespace td = tandem;
namespace dist = td::distributed;

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* const number = std::getenv("OMPI_COMM_WORLD_RANK");  // before there is a group: the late one gives up last
  const bool impatient = what == "late" && number && *number != '1';
  dist::init_process_group("mpi", {.timeout = impatient ? std::chrono::seconds(2) : std::chrono::seconds(120)});
  const int rank = dist::get_rank();
  const auto device = td::try_gpu();
  try {
    auto t = td::ones({1000}, device);
    for (int i = 0; i < 10; ++i) dist::all_reduce(t);
    if (what == "differs") {
      if (rank == 1) dist::broadcast(t, 0);
      else dist::all_reduce(t);
      if (device.is_cuda()) td::cuda::synchronize();
      return 0;
    }
    if (rank == 1) {
      if (what == "killed") (void)raise(SIGKILL);
      if (what == "exits") std::_Exit(3);
      if (what == "leaves") dist::destroy_process_group();
      if (what == "aborts") dist::ProcessGroup().abort("rank 1 has had enough");
      if (what == "throws") throw td::Error("rank 1 has met an error of its own");
      if (what == "late") {  // takes part in another call only once the others have given up
        try {
          dist::recv(t, 0);
          if (device.is_cuda()) td::cuda::synchronize();
        } catch (const td::Error& error) {
          std::printf("error: %s\n", error.what());
        }
        return 1;
      }
      if (what == "leaves" || what == "aborts") return 1;
    }
    if (what == "cut") std::printf("ready\n");
    std::fflush(stdout);
    do {
      dist::all_reduce(t);
      if (device.is_cuda()) td::cuda::synchronize();
    } while (what == "cut");
    std::printf("no error\n");
    return 0;
  } catch (const td::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
