// A program that never calls multiprocessing::init cannot have workers: it would start itself for ever.
#include <tandem/tandem.h>

#include "check.h"

namespace td = tandem;
namespace mp = td::multiprocessing;

static void nothing() {}
static void nothing_with_rank(int) {}

int main() {
  CHECK_ERROR(mp::Process(nothing), td::Error, "main must call multiprocessing::init(argc, argv) before anything else");
  CHECK_ERROR(mp::spawn(nothing_with_rank, 2), td::Error, "main must call multiprocessing::init(argc, argv)");
  return finish();
}
