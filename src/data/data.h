// Datasets and loaders: everything in data.
#pragma once

#include "data/dataset.h"
#include "data/digits.h"
#include "data/generator.h"
#include "data/loader.h"
#include "data/sampler.h"
