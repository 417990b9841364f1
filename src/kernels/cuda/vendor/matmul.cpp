// Products through cuBLASLt. It stores matrices column by column, so it is asked for outᵀ = bᵀ aᵀ. A batch has one stride; where a call's
// batches have several, cuBLASLt is called several times. The algorithm that its heuristics propose first is cached by shape. A bias along
// the columns of out is part of the epilogue; a bias of out's shape is its C. ReLU, and GELU of half types, are part of it too where they
// propagate nan, which is not documented and so tested for each plan; other activations are a pass of our own over the result. An operand
// without a dense dimension, such as the gradient of a sum, is first copied into the workspace. Integers are left to our own kernel.
#include <cublasLt.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "base/backends.h"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/places.h"
#include "kernels/cuda/vendor/library.h"
#include "kernels/cuda/vendor/vendor.h"
#include "kernels/pointwise_of.h"

namespace tandem::kernels::cuda::vendor {
namespace {

struct CublasLt {
  Library library{"cuBLASLt", "libcublasLt.so." TD_TEXT(CUBLAS_VER_MAJOR)};
  TD_FUNCTION(cublasLtGetVersion);
  TD_FUNCTION(cublasLtGetStatusName);
  TD_FUNCTION(cublasLtCreate);
  TD_FUNCTION(cublasLtMatmul);
  TD_FUNCTION(cublasLtMatmulAlgoGetHeuristic);
  TD_FUNCTION(cublasLtMatmulDescCreate);
  TD_FUNCTION(cublasLtMatmulDescDestroy);
  TD_FUNCTION(cublasLtMatmulDescSetAttribute);
  TD_FUNCTION(cublasLtMatrixLayoutCreate);
  TD_FUNCTION(cublasLtMatrixLayoutDestroy);
  TD_FUNCTION(cublasLtMatrixLayoutSetAttribute);
  TD_FUNCTION(cublasLtMatmulPreferenceCreate);
  TD_FUNCTION(cublasLtMatmulPreferenceDestroy);
  TD_FUNCTION(cublasLtMatmulPreferenceSetAttribute);
};

CublasLt& lt() {
  static auto* const library = new CublasLt;
  return *library;
}

const char* failed(const char* call, cublasStatus_t status) { return lt().library.failed(call, lt().cublasLtGetStatusName(status)); }

/// A matrix of the transposed problem: stored column by column, `ld` apart; transposed where its rows are the dense dimension.
struct Matrix {
  bool transposed = false;
  int64_t ld = 0, batch_stride = 0;
};

/// One call of cuBLASLt.
struct Problem {
  int64_t m = 0, n = 0, k = 0, batch = 1;  // of out = a b
  DType dtype = DType::Float32;
  Matrix out, a, b, c;
  bool has_c = false, bias_row = false;
  Activation activation = Activation::None;  // in the epilogue
};

/// The row-major matrix (rows, columns) with these strides, as the transposed problem stores it; nothing where no dimension is dense.
std::optional<Matrix> matrix_of(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  if ((column == 1 || columns == 1) && (row >= columns || rows == 1))
    return Matrix{false, rows == 1 ? std::max<int64_t>(columns, 1) : row, 0};
  if ((row == 1 || rows == 1) && (column >= rows || columns == 1))
    return Matrix{true, columns == 1 ? std::max<int64_t>(rows, 1) : column, 0};
  return std::nullopt;
}

/// An operand where cuBLASLt can read it: as it is, or as a dense copy. What repeats in a batch is copied once.
struct Readable {
  View view;
  size_t copied = 0;  // bytes

  explicit Readable(const View& x) : view(x) {
    const int last = x.ndim - 1;
    if (matrix_of(x.sizes[last - 1], x.sizes[last], x.strides[last - 1], x.strides[last])) return;
    int64_t count = 1;
    for (int d = last; d >= 0; --d) {
      if (d < last - 1 && x.strides[d] == 0) continue;
      view.strides[d] = count;
      count *= x.sizes[d];
    }
    copied = static_cast<size_t>(count) * size_of(x.dtype);
  }
  /// Copies the operand to `to`, of `copied` bytes.
  void copy_to(const Queue& queue, char* to, const View& x) {
    view.data = to;
    Out out{view};
    View in = x;
    for (int d = 0; d < x.ndim - 2; ++d)
      if (x.strides[d] == 0) out.sizes[d] = in.sizes[d] = 1;
    cuda::copy(queue, out, in);
  }
};

/// The call as cuBLASLt takes it; nothing where our own kernel has to do it. a and b are readable.
std::optional<Problem> problem_of(const View& out, const View& a, const View& b, const View& bias, const Epilogue& epilogue) {
  if (!lt().library.complete() || !is_floating(out.dtype)) return std::nullopt;
  const int last = out.ndim - 1;
  Problem p;
  p.dtype = out.dtype;
  p.m = out.sizes[last - 1];
  p.n = out.sizes[last];
  p.k = a.sizes[last];
  if (p.m == 0 || p.n == 0 || p.k == 0) return std::nullopt;
  const auto find = [&](const View& x, int64_t rows, int64_t columns) {
    return matrix_of(rows, columns, x.strides[last - 1], x.strides[last]);
  };
  const auto o = find(out, p.m, p.n), left = find(a, p.m, p.k), right = find(b, p.k, p.n);
  if (!o || o->transposed || !left || !right) return std::nullopt;
  p.out = *o;
  p.a = *left;
  p.b = *right;
  if (bias.data) {
    const bool one_row = (bias.strides[last - 1] == 0 || p.m == 1) && (bias.strides[last] == 1 || p.n == 1);
    bool same_for_all = true;
    for (int d = 0; d < last - 1; ++d) same_for_all &= bias.strides[d] == 0 || out.sizes[d] == 1;
    if (one_row && same_for_all && epilogue.beta == 1 && p.dtype != DType::Float64 && bias.data != out.data) {
      p.bias_row = true;
    } else {
      const auto c = find(bias, p.m, p.n);
      if (!c || c->transposed || (bias.strides[last - 1] == 0 && p.m > 1)) return std::nullopt;
      p.has_c = true;
      p.c = *c;
    }
  }
  return p;
}

cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::Float16: return CUDA_R_16F;
    case DType::BFloat16: return CUDA_R_16BF;
    case DType::Float32: return CUDA_R_32F;
    case DType::Float64: return CUDA_R_64F;
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64: break;
  }
  __builtin_unreachable();
}

/// Everything that a plan depends on.
using Key = std::array<int64_t, 26>;

enum class KeepsNan : uint8_t { Unknown, Yes, No };

/// A prepared call: descriptors and the algorithm. `usable` is false where cuBLASLt proposes none.
struct MatmulPlan {
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  bool usable = false;
  KeepsNan keeps_nan = KeepsNan::Unknown;  // its activation
};

/// Handle and plans of a GPU. Plans are kept for good: programs have few shapes.
struct DeviceState {
  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;
  std::map<Key, MatmulPlan> plans;
};

cublasLtEpilogue_t epilogue_of(const Problem& p) {
  switch (p.activation) {
    case Activation::Relu: return p.bias_row ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::Gelu: return p.bias_row ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default: return p.bias_row ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

class Maker {
 public:
  explicit Maker(const Problem& p) : p_(p) {}

  MatmulPlan make(cublasLtHandle_t handle, const void* bias, const uint32_t (&alignment)[4], size_t workspace) {
    const bool is_double = p_.dtype == DType::Float64;
    const bool tf32 = p_.dtype == DType::Float32 && backends::cuda::matmul::allow_tf32.load(std::memory_order_relaxed);
    const auto compute = is_double ? CUBLAS_COMPUTE_64F : tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    MatmulPlan plan;
    good(lt().cublasLtMatmulDescCreate(&plan.desc, compute, is_double ? CUDA_R_64F : CUDA_R_32F));
    // The first operand of the transposed problem is b, n by k.
    set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSA, p_.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSB, p_.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(plan.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p_));
    if (p_.bias_row) {
      set(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
      set(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(p_.dtype));
    }
    plan.a = layout(p_.b, p_.n, p_.k);
    plan.b = layout(p_.a, p_.k, p_.m);
    plan.d = layout(p_.out, p_.n, p_.m);
    plan.c = layout(p_.has_c ? p_.c : p_.out, p_.n, p_.m);
    cublasLtMatmulPreference_t preference = nullptr;
    good(lt().cublasLtMatmulPreferenceCreate(&preference));
    if (good_) {
      prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
      // Sums that are split are added up in the type that products are computed in: half types are rounded once.
      prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
      prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment[2]);
      prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment[1]);
      prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment[p_.has_c ? 3 : 0]);  // out stands for a C that there is not
      prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment[0]);
      cublasLtMatmulHeuristicResult_t found{};
      int count = 0;
      good(lt().cublasLtMatmulAlgoGetHeuristic(handle, plan.desc, plan.a, plan.b, plan.c, plan.d, preference, 1, &found, &count));
      plan.usable = good_ && count == 1 && found.state == CUBLAS_STATUS_SUCCESS;
      plan.algorithm = found.algo;
      lt().cublasLtMatmulPreferenceDestroy(preference);
    }
    return plan;
  }

 private:
  void good(cublasStatus_t status) { good_ &= status == CUBLAS_STATUS_SUCCESS; }
  template <class T>
  void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what, const T& value) {
    if (good_) good(lt().cublasLtMatmulDescSetAttribute(desc, what, &value, sizeof value));
  }
  template <class T>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what, const T& value) {
    if (good_) good(lt().cublasLtMatrixLayoutSetAttribute(layout, what, &value, sizeof value));
  }
  template <class T>
  void prefer(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t what, const T& value) {
    if (good_) good(lt().cublasLtMatmulPreferenceSetAttribute(preference, what, &value, sizeof value));
  }
  /// A matrix of `rows` by `columns` of the transposed problem, as it is stored.
  cublasLtMatrixLayout_t layout(const Matrix& x, int64_t rows, int64_t columns) {
    cublasLtMatrixLayout_t made = nullptr;
    if (x.transposed) std::swap(rows, columns);
    if (good_)
      good(lt().cublasLtMatrixLayoutCreate(&made, type_of(p_.dtype), static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), x.ld));
    if (p_.batch > 1) {
      set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(p_.batch));
      set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, x.batch_stride);
    }
    return made;
  }

  const Problem& p_;
  bool good_ = true;
};

/// The plan of a problem, made where it is new. The GPU's mutex is held.
MatmulPlan& plan_for(DeviceState& state, const Problem& p, const void* const (&data)[4], size_t workspace) {
  uint32_t alignment[4];
  for (int i = 0; i < 4; ++i) alignment[i] = alignment_of(data[i]);
  Key key = {p.m,
             p.n,
             p.k,
             p.batch,
             p.has_c,
             p.bias_row,
             backends::cuda::matmul::allow_tf32.load(),
             static_cast<int64_t>(p.dtype),
             static_cast<int64_t>(p.activation)};
  size_t at = 9;
  for (const Matrix* x : {&p.out, &p.a, &p.b, &p.c})
    for (const int64_t number : {static_cast<int64_t>(x->transposed), x->ld, x->batch_stride}) key[at++] = number;
  for (const uint32_t bytes : alignment) key[at++] = bytes;
  key[at] = static_cast<int64_t>(workspace);
  const auto [found, is_new] = state.plans.try_emplace(key);
  if (is_new) {
    if (const cublasStatus_t status = state.handle ? CUBLAS_STATUS_SUCCESS : lt().cublasLtCreate(&state.handle);
        status != CUBLAS_STATUS_SUCCESS) {
      (void)failed("cublasLtCreate", status);
      state.handle = nullptr;
    }
    if (state.handle) found->second = Maker(p).make(state.handle, data[3], alignment, workspace);
  }
  return found->second;
}

/// What a plan is run with.
struct Call {
  const void* data[4];  // out, a, b, bias
  double alpha, beta;
  void* workspace;
  size_t workspace_bytes;
  cudaStream_t stream;
  bool captured;  // for a graph
};

cublasStatus_t run(cublasLtHandle_t handle, const Problem& p, const MatmulPlan& plan, const Call& call) {
  const float alpha = static_cast<float>(call.alpha), beta = static_cast<float>(call.beta);
  const bool is_double = p.dtype == DType::Float64;
  if (p.bias_row)
    (void)lt().cublasLtMatmulDescSetAttribute(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &call.data[3], sizeof call.data[3]);
  return lt().cublasLtMatmul(handle, plan.desc, is_double ? static_cast<const void*>(&call.alpha) : &alpha, call.data[2], plan.a,
                             call.data[1], plan.b, is_double ? static_cast<const void*>(&call.beta) : &beta,
                             p.has_c ? call.data[3] : call.data[0], plan.c, const_cast<void*>(call.data[0]), plan.d, &plan.algorithm,
                             call.workspace, call.workspace_bytes, call.stream);
}

/// Whether a plan's activation keeps nan, as PyTorch's do. Found out at its first use by a run with a factor of nan, whose first and last
/// elements are read; a graph that is being captured can't wait for that, and gets the answer no.
bool keeps_nan(cublasLtHandle_t handle, const Problem& p, MatmulPlan& plan, Call call) {
  if (plan.keeps_nan != KeepsNan::Unknown) return plan.keeps_nan == KeepsNan::Yes;
  if (call.captured) return false;
  call.alpha = std::numeric_limits<double>::quiet_NaN();
  plan.keeps_nan = run(handle, p, plan, call) == CUBLAS_STATUS_SUCCESS ? KeepsNan::Yes : KeepsNan::No;
  for (const int64_t at : {int64_t{0}, (p.batch - 1) * p.out.batch_stride + (p.m - 1) * p.out.ld + p.n - 1})
    visit(p.dtype, [&](auto element) {
      const void* const from = static_cast<const char*>(call.data[0]) + at * static_cast<int64_t>(sizeof element);
      const bool read = cudaMemcpyAsync(&element, from, sizeof element, cudaMemcpyDeviceToHost, call.stream) == cudaSuccess &&
                        cudaStreamSynchronize(call.stream) == cudaSuccess;
      if (!read || !std::isnan(static_cast<float>(element))) plan.keeps_nan = KeepsNan::No;
    });
  return plan.keeps_nan == KeepsNan::Yes;
}

/// Whether an activation may be part of the epilogue. The precision of GELU's tanh is not said: it is left to types that show little of it.
/// out is written twice at the first use, which a bias in its place would not survive.
bool may_ride(Activation activation, const Out& out, const View& bias) {
  return bias.data != out.data && (activation == Activation::Relu || (activation == Activation::Gelu && is_half(out.dtype)));
}

/// out = activation(out), in place.
void activate(const Queue& queue, const Out& out, Activation activation) {
  const PointwiseOp op = activation == Activation::Relu      ? PointwiseOp::relu
                         : activation == Activation::Tanh    ? PointwiseOp::tanh
                         : activation == Activation::Sigmoid ? PointwiseOp::sigmoid
                                                             : PointwiseOp::gelu_tanh;
  cuda::pointwise(queue, pointwise_of(op, out, {out}));
}

/// The bytes that cuBLASLt may use: what splits of k need; its own advice for large products is 32 MiB.
size_t library_workspace(const Problem& p) { return p.m * p.n * p.k < (int64_t{1} << 24) ? size_t{1} << 20 : size_t{32} << 20; }

}  // namespace

tandem::cuda::Library describe_cublaslt() {
  return lt().library.description(lt().cublasLtGetVersion ? version_text(lt().cublasLtGetVersion(), 10000) : "");
}

size_t matmul_workspace(const View& out, const View& a, const View& b, const View& bias, const Epilogue& epilogue) {
  const Readable left(a), right(b);
  const auto p = problem_of(out, left.view, right.view, bias, epilogue);
  if (!p) return cuda::matmul_workspace(out, a, b, bias, epilogue);
  return align_up(left.copied) + align_up(right.copied) + library_workspace(*p);
}

void matmul(const Queue& queue, Out out, View given_a, View given_b, View bias, Epilogue epilogue, void* workspace) {
  Readable left(given_a), right(given_b);
  auto p = problem_of(out, left.view, right.view, bias, epilogue);
  if (!p) return cuda::matmul(queue, out, given_a, given_b, bias, epilogue, workspace);
  const size_t bytes = library_workspace(*p);
  char* room = static_cast<char*>(workspace) + align_up(bytes);
  if (left.copied) left.copy_to(queue, room, given_a);
  if (right.copied) right.copy_to(queue, room + align_up(left.copied), given_b);
  const View &a = left.view, &b = right.view;
  // cuBLASLt goes along the innermost of the merged batch dimensions, a loop here along the others.
  const Places<4> batches(out.ndim - 2, out.sizes, {out.strides, a.strides, b.strides, bias.data ? bias.strides : kNoStrides});
  const int inner = batches.ndim - 1;
  if (batches.count == 0) return;
  p->batch = inner >= 0 ? batches.size(inner) : 1;
  Matrix* const matrices[4] = {&p->out, &p->a, &p->b, &p->c};
  for (int k = 0; k < 4 && inner >= 0; ++k) matrices[k]->batch_stride = batches.strides[k][inner];
  const auto element = static_cast<int64_t>(size_of(out.dtype));
  char* const base[4] = {out.as<char>(), a.as<char>(), b.as<char>(), bias.as<char>()};
  Call call{{}, epilogue.alpha, p->has_c ? epilogue.beta : 0, workspace, bytes, stream_of(queue), is_captured(queue)};

  DeviceState& owner = state_of<DeviceState>(queue.device);
  const std::lock_guard lock(owner.mutex);
  for (int64_t outer = 0; outer < batches.count / p->batch; ++outer) {
    int64_t at[4] = {}, rest = outer;
    for (int d = inner - 1; d >= 0; --d) {
      for (int k = 0; k < 4; ++k) at[k] += rest % batches.size(d) * batches.strides[k][d];
      rest /= batches.size(d);
    }
    for (int k = 0; k < 4; ++k) call.data[k] = base[k] ? base[k] + at[k] * element : nullptr;
    MatmulPlan* plan = nullptr;
    if (batches.count == p->batch && may_ride(epilogue.activation, out, bias)) {
      p->activation = epilogue.activation;
      MatmulPlan& fused = plan_for(owner, *p, call.data, bytes);
      if (fused.usable && keeps_nan(owner.handle, *p, fused, call)) plan = &fused;
      else p->activation = Activation::None;
    }
    if (!plan) plan = &plan_for(owner, *p, call.data, bytes);
    const cublasStatus_t status = plan->usable ? run(owner.handle, *p, *plan, call) : CUBLAS_STATUS_NOT_SUPPORTED;
    if (status == CUBLAS_STATUS_SUCCESS) continue;
    const char* const text = plan->usable ? failed("cublasLtMatmul", status) : nullptr;
    plan->usable = false;
    // Our own kernel does all of it, unless the bias has been overwritten with what came out so far.
    if (outer == 0 || bias.data != out.data) return cuda::matmul(queue, out, a, b, bias, epilogue, nullptr);
    return report(queue, text ? text : failed("cublasLtMatmulAlgoGetHeuristic", status));
  }
  if (epilogue.activation != p->activation) activate(queue, out, epilogue.activation);
}

}  // namespace tandem::kernels::cuda::vendor
