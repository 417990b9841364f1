// libtorch's names over tandem: what a program written for libtorch finds under <torch/torch.h>.
#pragma once

#include "libtorch/autograd.h"
#include "libtorch/cuda.h"
#include "libtorch/data.h"
#include "libtorch/functions.h"
#include "libtorch/nn.h"
#include "libtorch/optim.h"
#include "libtorch/serialize.h"
#include "libtorch/types.h"
