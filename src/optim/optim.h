// Optimizers: everything in optim.
#pragma once

#include "optim/adadelta.h"
#include "optim/adagrad.h"
#include "optim/adam.h"
#include "optim/adamax.h"
#include "optim/asgd.h"
#include "optim/grad_scaler.h"
#include "optim/lbfgs.h"
#include "optim/nadam.h"
#include "optim/optimizer.h"
#include "optim/radam.h"
#include "optim/rmsprop.h"
#include "optim/rprop.h"
#include "optim/schedule.h"
#include "optim/schedule_cycles.h"
#include "optim/sgd.h"
