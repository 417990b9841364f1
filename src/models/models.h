// Networks to begin with: everything in models.
#pragma once

#include "models/densenet.h"
#include "models/resnet.h"
#include "models/small.h"
#include "models/text_generator.h"
