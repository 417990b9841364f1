// torch::nn::functional in one include.
#pragma once

#include "libtorch/functional_activation.h"
#include "libtorch/functional_linear.h"
#include "libtorch/functional_loss.h"
#include "libtorch/functional_pooling.h"
