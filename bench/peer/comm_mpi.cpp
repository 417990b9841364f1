// The peer's side of the comm benchmark: MPI's blocking sum of floats. bench/comm.py compiles it with mpicxx; it is no part of tandem's
// build. Usage: mpirun -n 2 comm_mpi [--ms MILLISECONDS] [--only NAME]…; the first rank prints JSON.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

#include "bench/measure.h"

int main(int argc, char** argv) {
  using namespace tandem::bench;
  double ms = 200;
  std::vector<std::string> only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--ms") == 0) ms = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--only") == 0) only.push_back(argv[i + 1]);
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto agree = [](double number) {
    MPI_Bcast(&number, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return number;
  };
  std::vector<Measured> results;
  for (const auto& [name, bytes] :
       {std::pair<const char*, int>{"all_reduce_4", 4}, {"all_reduce_1m", 1'000'000}, {"all_reduce_16m", 16'000'000}}) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    std::vector<float> data(static_cast<size_t>(bytes) / 4);
    results.push_back(measure_together(
        name, ms, [&] { MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); },
        agree));
  }
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  if (char* const end = std::strpbrk(version, ",\n")) *end = '\0';
  if (rank == 0) std::cout << to_json(version, 1, results);
  MPI_Finalize();
  return 0;
}
