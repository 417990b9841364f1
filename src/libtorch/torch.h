// libtorch's names over tandem: what a program written for libtorch finds under <torch/torch.h>.
#pragma once

// libtorch's own headers bring these along, and programs lean on it: PyTorch's example mnist calls std::isnan without <cmath>.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <thread>

#include "libtorch/autograd.h"
#include "libtorch/cuda.h"
#include "libtorch/data.h"
#include "libtorch/functions.h"
#include "libtorch/nn.h"
#include "libtorch/optim.h"
#include "libtorch/serialize.h"
#include "libtorch/types.h"
