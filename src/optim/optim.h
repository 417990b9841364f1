// Optimizers: everything in optim.
#pragma once

#include "optim/adam.h"
#include "optim/optimizer.h"
#include "optim/sgd.h"
