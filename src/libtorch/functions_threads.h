// Threads and other settings of the process.
#pragma once

#include "base/backends.h"
#include "base/dtype.h"
#include "base/parallel.h"

namespace torch {

using tandem::can_cast;
using tandem::get_num_threads;
using tandem::promote_types;
using tandem::set_num_threads;

/// Nothing: tandem has one pool of threads, which is there when it is needed.
inline void init_num_threads() {}
/// Nothing: graphs run on the calling threads.
inline void set_num_interop_threads(int /*count*/) {}
inline int get_num_interop_threads() { return 1; }

}  // namespace torch
