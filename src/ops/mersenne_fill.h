// Filling tensors of the CPU with PyTorch's random numbers. For ops/random.cpp.
#pragma once

#include "ops/mersenne_twister.h"

namespace tandem::ops {

/// Fills a CPU tensor with numbers of the process's MersenneTwister, as PyTorch's functions of these names do.
void mersenne_uniform(const Tensor& x, double from, double to);
void mersenne_normal(const Tensor& x, double mean, double std);
void mersenne_exponential(const Tensor& x, double lambda);
void mersenne_integers(const Tensor& x, int64_t from, uint64_t range);
void mersenne_whole(const Tensor& x);  // random_() without a range
void mersenne_bernoulli(const Tensor& x, double p);
void mersenne_bernoulli(const Tensor& x, const Tensor& p);  // p contiguous
void mersenne_geometric(const Tensor& x, double p);
void mersenne_cauchy(const Tensor& x, double median, double sigma);
void mersenne_log_normal(const Tensor& x, double mean, double std);
void mersenne_permutation(const Tensor& x);  // int64
/// Categories drawn with replacement: `x` int64 (…, samples), p (…, categories), both contiguous.
void mersenne_categories(const Tensor& x, const Tensor& p);
void mersenne_seed(uint64_t seed);

}  // namespace tandem::ops
