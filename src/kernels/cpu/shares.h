// Into how many parts work with a scratch area for each part is split. A workspace is measured when a call is queued and used when it runs,
// perhaps with another number of threads: so this is one number for the process, and results depend on nothing that changes while it runs.
#pragma once

#include "base/cores.h"

namespace tandem::kernels::cpu {

/// The cores of the process, as found at first use.
inline int shares() {
  static const int cores = [] {
    try {
      return detail::usable_cores();
    } catch (...) {
      return 1;  // a bad setting is reported where threads are asked for, with its text
    }
  }();
  return cores;
}

}  // namespace tandem::kernels::cpu
