// Datasets and loaders: everything in data.
#pragma once

#include "data/combine.h"
#include "data/csv.h"
#include "data/dataset.h"
#include "data/digits.h"
#include "data/generator.h"
#include "data/idx.h"
#include "data/image.h"
#include "data/image_folder.h"
#include "data/image_grid.h"
#include "data/loader.h"
#include "data/sampler.h"
#include "data/synthetic.h"
#include "data/transforms.h"
