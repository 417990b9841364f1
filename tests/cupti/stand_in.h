// A stand-in for CUPTI: a library of its name with the functions of its header that tandem uses, told by a test what ran. It is strict
// about what CUPTI's documentation asks for.
#pragma once

#include <cupti.h>

#include <set>
#include <string>
#include <vector>

namespace tandem::testing {

struct CuptiStandIn {
  std::set<CUpti_ActivityKind> enabled;
  std::vector<std::string> misuses;
  size_t ids = 0;              // that have been pushed and not popped, by all threads
  bool flush_at_once = false;  // every record in a buffer of its own
  CUptiResult on_enable = CUPTI_SUCCESS;

  /// The calling thread has made a call, and what it asked for ran so.
  void (*ran)(CUpti_ActivityKind kind, uint64_t begin, uint64_t end) = nullptr;
};

}  // namespace tandem::testing

extern "C" tandem::testing::CuptiStandIn* cupti_stand_in();
