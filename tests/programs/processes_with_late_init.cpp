// A program whose workers do not come to init, or come to their own processes before: the parent is told.
#include <tandem/tandem.h>

#include <cstdlib>

#include "check.h"

namespace td = tandem;
namespace mp = td::multiprocessing;

static void nothing() {}

static std::string error_of_a_worker() {
  mp::Process process(nothing);
  process.start();
  process.join(std::chrono::seconds(60));
  return process.error() ? process.error()->what() : "no error";
}

int main(int argc, char** argv) {
  const bool is_worker = std::getenv("TANDEM_WORKER_SOCKET") != nullptr;
  if (is_worker && std::getenv("STARTS_ANOTHER")) {
    CHECK_ERROR(mp::Process(nothing), td::Error, "this is a worker, and its main must call multiprocessing::init");
    return failed == 0 ? 5 : 6;
  }
  if (is_worker) return 0;
  mp::init(argc, argv);
  CHECK(error_of_a_worker().find("before it called multiprocessing::init") != std::string::npos);
  setenv("STARTS_ANOTHER", "1", 1);
  CHECK(error_of_a_worker().find("exit code 5 before it called multiprocessing::init") != std::string::npos);
  return finish();
}
