// torch::optim in one include.
#pragma once

#include "libtorch/optim_adagrad.h"
#include "libtorch/optim_adam.h"
#include "libtorch/optim_lbfgs.h"
#include "libtorch/optim_optimizer.h"
#include "libtorch/optim_rmsprop.h"
#include "libtorch/optim_schedulers.h"
#include "libtorch/optim_serialize.h"
#include "libtorch/optim_sgd.h"
