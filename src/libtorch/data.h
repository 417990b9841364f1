// torch::data in one include.
#pragma once

#include "libtorch/data_chunk.h"
#include "libtorch/data_datasets.h"
#include "libtorch/data_distributed.h"
#include "libtorch/data_example.h"
#include "libtorch/data_loader.h"
#include "libtorch/data_queue.h"
#include "libtorch/data_samplers.h"
#include "libtorch/data_transforms.h"
