// Modules, layers and losses: everything in nn.
#pragma once

#include "nn/activation.h"
#include "nn/any_module.h"
#include "nn/clone.h"
#include "nn/layers.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "nn/module.h"
#include "nn/packed_sequence.h"
#include "nn/recurrent.h"
#include "nn/recurrent_cells.h"
#include "nn/sequential.h"
#include "nn/state_dict.h"
#include "nn/utils.h"
