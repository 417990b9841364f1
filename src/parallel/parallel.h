// Several devices in one process: everything in parallel.
#pragma once

#include "parallel/broadcast.h"
#include "parallel/data_parallel.h"
#include "parallel/parallel_apply.h"
#include "parallel/replicate.h"
#include "parallel/scatter_gather.h"
