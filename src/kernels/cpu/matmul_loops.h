// The parts of a product that are not a library's: plain loops, and what follows a product.
#pragma once

#include "base/queue.h"
#include "kernels/cpu/matmul_plan.h"

namespace tandem::kernels::cpu {

/// A whole product with its epilogue by plain loops, any strides and types: tiny ones, integers (which are added up in 64 bits), and k = 0.
void plain_product(const Queue& queue, const MatmulPlan& plan, const Matrix& out, const Matrix& a, const Matrix& b, const Matrix& bias);

/// out = activation(alpha * product + beta * bias) for a block; `product` has dense rows, of plan.result() where it is apart.
void finish_product(const MatmulPlan& plan, const Matrix& out, const Matrix& product, const Matrix& bias, int64_t i, int64_t j,
                    int64_t rows, int64_t columns);

}  // namespace tandem::kernels::cpu
