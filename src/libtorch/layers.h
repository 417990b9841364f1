// All layers in one include.
#pragma once

#include "libtorch/layers_activation.h"
#include "libtorch/layers_adaptive.h"
#include "libtorch/layers_attention.h"
#include "libtorch/layers_conv.h"
#include "libtorch/layers_embedding.h"
#include "libtorch/layers_linear.h"
#include "libtorch/layers_loss.h"
#include "libtorch/layers_norm.h"
#include "libtorch/layers_pooling.h"
#include "libtorch/layers_recurrent.h"
#include "libtorch/layers_transformer.h"
