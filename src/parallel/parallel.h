// Several devices and several ranks: everything in parallel.
#pragma once

#include "parallel/broadcast.h"
#include "parallel/data_parallel.h"
#include "parallel/distributed_data_parallel.h"
#include "parallel/fully_sharded.h"
#include "parallel/parallel_apply.h"
#include "parallel/replicate.h"
#include "parallel/scatter_gather.h"
#include "parallel/zero_redundancy_optimizer.h"
