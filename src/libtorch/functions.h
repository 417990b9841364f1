// The free functions of torch: those that tandem has under the same name and parameters, and libtorch's own forms of the others.
#pragma once

#include "libtorch/functions_aliases.h"
#include "libtorch/functions_factories.h"
#include "libtorch/functions_layers.h"
#include "libtorch/functions_linalg.h"
#include "libtorch/functions_list.h"
#include "libtorch/functions_loss.h"
#include "libtorch/functions_out.h"
#include "libtorch/functions_reductions.h"
#include "libtorch/functions_special.h"
#include "libtorch/functions_threads.h"
#include "libtorch/types.h"
