// Probability distributions, by the names of torch.distributions. Not in tandem.h: include <tandem/distributions/distributions.h>.
#pragma once

#include "distributions/bernoulli.h"
#include "distributions/categorical.h"
#include "distributions/constraint.h"
#include "distributions/dirichlet.h"
#include "distributions/distribution.h"
#include "distributions/gamma.h"
#include "distributions/independent.h"
#include "distributions/kl.h"
#include "distributions/location_scale.h"
#include "distributions/multivariate_normal.h"
#include "distributions/normal.h"
#include "distributions/poisson.h"
#include "distributions/probs_or_logits.h"
#include "distributions/uniform.h"
