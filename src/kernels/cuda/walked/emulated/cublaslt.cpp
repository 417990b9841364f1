// cuBLASLt's products on the host, as its descriptors say. A description that makes no sense is an error, which on a GPU
// kernels/cuda/vendor/matmul.cpp would answer with a kernel of our own.
#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "kernels/cuda/walked/emulated/library.h"

namespace tandem::kernels::cuda::emulated {
namespace {

/// The library's own functions that read a description.
struct Readers {
  decltype(&::cublasLtMatmulDescGetAttribute) product = nullptr;
  decltype(&::cublasLtMatrixLayoutGetAttribute) layout = nullptr;
};
Readers& readers() {
  static Readers functions;
  return functions;
}

template <class T>
T read(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t what) {
  T value{};
  size_t written = 0;
  (void)readers().product(product, what, &value, sizeof value, &written);
  return value;
}

template <class T>
T read(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what) {
  T value{};
  size_t written = 0;
  (void)readers().layout(layout, what, &value, sizeof value, &written);
  return value;
}

/// An operand: stored column by column, `ld` apart, and read with rows and columns exchanged where it is transposed.
struct Matrix {
  int64_t rows, columns, ld, batch, batch_stride;
  cudaDataType_t type;
  bool transposed;

  explicit Matrix(cublasLtMatrixLayout_t from, bool is_transposed = false)
      : rows(static_cast<int64_t>(read<uint64_t>(from, CUBLASLT_MATRIX_LAYOUT_ROWS))),
        columns(static_cast<int64_t>(read<uint64_t>(from, CUBLASLT_MATRIX_LAYOUT_COLS))),
        ld(read<int64_t>(from, CUBLASLT_MATRIX_LAYOUT_LD)),
        batch(read<int32_t>(from, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)),
        batch_stride(read<int64_t>(from, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)),
        type(static_cast<cudaDataType_t>(read<uint32_t>(from, CUBLASLT_MATRIX_LAYOUT_TYPE))),
        transposed(is_transposed) {}

  /// Whether it is (height, width) as it is read.
  [[nodiscard]] bool is(int64_t height, int64_t width) const {
    return (transposed ? columns : rows) == height && (transposed ? rows : columns) == width;
  }
  [[nodiscard]] int64_t at(int64_t in_batch, int64_t row, int64_t column) const {
    return in_batch * batch_stride + (transposed ? column + row * ld : row + column * ld);
  }
};

/// d = activation(alpha a b + beta c + bias)
struct Product {
  Matrix a, b, c, d;
  cublasLtEpilogue_t epilogue;
  const void* bias;

  [[nodiscard]] bool makes_sense() const {
    const int64_t inner = a.transposed ? a.rows : a.columns;
    bool good = a.is(d.rows, inner) && b.is(inner, d.columns) && c.is(d.rows, d.columns);
    for (const Matrix* each : {&a, &b, &c, &d}) good &= each->ld >= each->rows && each->batch == d.batch && each->type == d.type;
    return good;
  }
};

/// What an epilogue does to a number. ReLU loses nan, as a comparison does; GELU keeps it.
template <class Compute>
Compute activated(cublasLtEpilogue_t epilogue, Compute x) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS: return x > 0 ? x : 0;
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      return x * Compute(0.5) * (1 + std::tanh(Compute(0.7978845608028654) * (x + Compute(0.044715) * x * x * x)));
    default: return x;
  }
}

template <class T>
void multiply(const Product& p, const void* alpha, const void* a, const void* b, const void* beta, const void* c, void* d) {
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto *left = static_cast<const T*>(a), *right = static_cast<const T*>(b), *added = static_cast<const T*>(c),
             *bias = static_cast<const T*>(p.bias);
  const Compute factor = *static_cast<const Compute*>(alpha), added_factor = *static_cast<const Compute*>(beta);
  const int64_t inner = p.a.transposed ? p.a.rows : p.a.columns;
  std::vector<Compute> column(static_cast<size_t>(p.d.rows));
  for (int64_t batch = 0; batch < p.d.batch; ++batch)
    for (int64_t j = 0; j < p.d.columns; ++j) {
      std::fill(column.begin(), column.end(), Compute(0));
      for (int64_t k = 0; k < inner; ++k) {
        const auto y = static_cast<Compute>(right[p.b.at(batch, k, j)]);
        for (int64_t i = 0; i < p.d.rows; ++i) column[static_cast<size_t>(i)] += static_cast<Compute>(left[p.a.at(batch, i, k)]) * y;
      }
      for (int64_t i = 0; i < p.d.rows; ++i) {
        Compute sum = factor * column[static_cast<size_t>(i)];
        if (added_factor != 0) sum += added_factor * static_cast<Compute>(added[p.c.at(batch, i, j)]);
        if (bias) sum += static_cast<Compute>(bias[i]);
        static_cast<T*>(d)[p.d.at(batch, i, j)] = T(activated(p.epilogue, sum));
      }
    }
}

cublasStatus_t create(cublasLtHandle_t* handle) {
  static int any = 0;
  *handle = reinterpret_cast<cublasLtHandle_t>(&any);
  return CUBLAS_STATUS_SUCCESS;
}

/// One algorithm for everything.
cublasStatus_t heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                         cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t* found, int* count) {
  found->state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t matmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                      const void* b, cublasLtMatrixLayout_t b_layout, const void* beta, const void* c, cublasLtMatrixLayout_t c_layout,
                      void* d, cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void* workspace, size_t workspace_bytes,
                      cudaStream_t) {
  const auto transposed = [&](cublasLtMatmulDescAttributes_t which) { return read<int32_t>(product, which) == CUBLAS_OP_T; };
  const auto epilogue = static_cast<cublasLtEpilogue_t>(read<uint32_t>(product, CUBLASLT_MATMUL_DESC_EPILOGUE));
  const bool has_bias =
      epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  const Product p{Matrix(a_layout, transposed(CUBLASLT_MATMUL_DESC_TRANSA)),
                  Matrix(b_layout, transposed(CUBLASLT_MATMUL_DESC_TRANSB)),
                  Matrix(c_layout),
                  Matrix(d_layout),
                  epilogue,
                  has_bias ? read<const void*>(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER) : nullptr};
  if (fails("cublasLtMatmul")) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!p.makes_sense() || (has_bias && !p.bias)) fail("[matmul] the description for cuBLASLt makes no sense");
  ++calls().products;
  std::memset(workspace, kRubbish, workspace_bytes);
  switch (p.d.type) {
    case CUDA_R_16F: multiply<Half>(p, alpha, a, b, beta, c, d); break;
    case CUDA_R_16BF: multiply<BFloat16>(p, alpha, a, b, beta, c, d); break;
    case CUDA_R_32F: multiply<float>(p, alpha, a, b, beta, c, d); break;
    case CUDA_R_64F: multiply<double>(p, alpha, a, b, beta, c, d); break;
    default: fail("[matmul] cuBLASLt's data type ", static_cast<int>(p.d.type), " is not emulated");
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

void* cublaslt_stand_in(void* library, std::string_view name) {
  if (name == "cublasLtCreate") {
    readers().product = reinterpret_cast<decltype(Readers::product)>(own_function(library, "cublasLtMatmulDescGetAttribute"));
    readers().layout = reinterpret_cast<decltype(Readers::layout)>(own_function(library, "cublasLtMatrixLayoutGetAttribute"));
    return reinterpret_cast<void*>(create);
  }
  if (name == "cublasLtMatmulAlgoGetHeuristic") return reinterpret_cast<void*>(heuristic);
  if (name == "cublasLtMatmul") return reinterpret_cast<void*>(matmul);
  return nullptr;
}

}  // namespace tandem::kernels::cuda::emulated
