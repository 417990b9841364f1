// torch::nn in one include.
#pragma once

#include "libtorch/any.h"
#include "libtorch/containers.h"
#include "libtorch/functional.h"
#include "libtorch/holder.h"
#include "libtorch/init.h"
#include "libtorch/layers.h"
#include "libtorch/module.h"
#include "libtorch/parallel.h"
#include "libtorch/parameter_containers.h"
#include "libtorch/utils.h"
