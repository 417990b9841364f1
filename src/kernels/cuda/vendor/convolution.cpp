// Convolutions through cuDNN's graph interface. A call becomes a graph of one operation; the engines that cuDNN's heuristics propose are
// tried in their order, and the first plan that can be made is kept by shape (with backends::cudnn::benchmark the fastest of the first
// eight, measured at the first call). What cuDNN has no engine for - integers, odd alignments - our own kernels do.
#include <array>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/vendor/cudnn_graph.h"
#include "kernels/cuda/vendor/vendor.h"
#include "kernels/pointwise_of.h"

namespace tandem::kernels::cuda::vendor {
namespace {

constexpr int kTried = 8;
constexpr int64_t kData = 1, kWeight = 2, kResult = 3;  // how plans call the three tensors, whichever of them is computed

struct Problem {
  ConvolutionPart part;
  DType dtype;
  int64_t n, c, o, groups;
  int64_t in[3], out[3];
  Windows windows;
  int64_t alignment;
};

/// Everything that a plan depends on.
using Key = std::array<int64_t, 28>;

Key key_of(const Problem& p) {
  Key key = {static_cast<int64_t>(p.part),
             static_cast<int64_t>(p.dtype),
             p.n,
             p.c,
             p.o,
             p.groups,
             p.alignment,
             backends::cudnn::allow_tf32.load(),
             backends::cudnn::benchmark.load(),
             deterministic()};
  size_t at = 10;
  for (const int64_t* numbers : {p.in, p.out, p.windows.kernel, p.windows.stride, p.windows.padding, p.windows.dilation})
    for (int d = 0; d < 3; ++d) key[at++] = numbers[d];
  return key;
}

/// The plans of a shape. Of several, the fastest is not known yet.
struct Choice {
  std::vector<ExecutionPlan> plans;
  [[nodiscard]] size_t workspace() const {
    int64_t largest = 0;
    for (const ExecutionPlan& plan : plans) largest = std::max(largest, plan.workspace);
    return static_cast<size_t>(largest);
  }
};

using DeviceState = CudnnState<Key, Choice>;

/// The first of the three spatial dimensions that counts: two-dimensional engines are more and better than three-dimensional ones.
int first_dim(const Problem& p) {
  const Windows& w = p.windows;
  return p.in[0] == 1 && p.out[0] == 1 && w.kernel[0] == 1 && w.padding[0] == 0 ? 1 : 0;
}

/// A dense tensor (outer, inner, spatial…).
Descriptor tensor(const Problem& p, int64_t id, int64_t outer, int64_t inner, const int64_t* spatial) {
  int64_t sizes[5] = {outer, inner}, strides[5];
  int64_t dims = 2;
  for (int d = first_dim(p); d < 3; ++d) sizes[dims++] = spatial[d];
  for (int64_t d = dims - 1, step = 1; d >= 0; --d) {
    strides[d] = step;
    step *= sizes[d];
  }
  Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type_of(p.dtype))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, dims, strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, p.alignment)
      .finalize();
  return made;
}

Descriptor windows_of(const Problem& p) {
  const int first = first_dim(p);
  const int64_t dims = 3 - first;
  Descriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, p.dtype == DType::Float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, dims)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, dims, p.windows.padding + first)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, dims, p.windows.padding + first)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, dims, p.windows.stride + first)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, dims, p.windows.dilation + first)
      .finalize();
  return made;
}

/// The names that the three operations have for the same things.
struct Names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t data, weight, result, windows, alpha, beta;
};
Names names_of(ConvolutionPart part) {
  switch (part) {
    case ConvolutionPart::Forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvolutionPart::Input:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

/// Whether the switches allow an engine: TF32, and sums in an order of their own.
bool allowed(const Problem& p, const Descriptor& config) {
  const bool tf32 = p.dtype != DType::Float32 || backends::cudnn::allow_tf32.load();
  if (tf32 && !deterministic()) return true;
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t into = engine.get();
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  (void)config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &into);
  const int64_t count = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  for (int64_t i = 0; i < count; ++i) {
    if (deterministic() && notes[i] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) return false;
    if (!tf32 && (notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE || notes[i] == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) return false;
  }
  return true;
}

void make(const Problem& p, cudnnHandle_t handle, Choice& choice) {
  const Descriptor data = tensor(p, kData, p.n, p.c, p.in), weight = tensor(p, kWeight, p.o, p.c / p.groups, p.windows.kernel),
                   result = tensor(p, kResult, p.n, p.o, p.out), windows = windows_of(p);
  const Names names = names_of(p.part);
  Descriptor operation(names.operation);
  operation.set(names.data, data).set(names.weight, weight).set(names.result, result).set(names.windows, windows);
  if (p.dtype == DType::Float64) operation.set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0).set(names.beta, CUDNN_TYPE_DOUBLE, 0.0);
  else operation.set(names.alpha, CUDNN_TYPE_FLOAT, 1.0F).set(names.beta, CUDNN_TYPE_FLOAT, 0.0F);
  operation.finalize();
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle).set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation).finalize();
  if (!graph.good()) return;
  find_plans(handle, graph, backends::cudnn::benchmark.load() ? kTried : 1, choice.plans,
             [&](const Descriptor& config) { return allowed(p, config); });
}

/// The plans of a call, made where its shape is new; none where cuDNN cannot do it. `lock` holds the GPU's mutex.
Choice& choice_for(DeviceState& state, std::unique_lock<std::mutex>& lock, const Problem& p) {
  return state.of(lock, key_of(p), [&p](cudnnHandle_t handle, Choice& choice) { make(p, handle, choice); });
}

/// Whether it was queued.
bool run(DeviceState& state, const ExecutionPlan& plan, cudaStream_t stream, const void* data, const void* weight, const void* result,
         void* workspace) {
  const void* const pointers[3] = {data, weight, result};
  const int64_t names[3] = {kData, kWeight, kResult};
  return run_plan_on(stream, state.handle, plan, 3, names, pointers, workspace);
}

/// Keeps the fastest of several plans: each runs once to warm up and once between two events.
void keep_fastest(DeviceState& state, Choice& choice, cudaStream_t stream, const void* data, const void* weight, const void* result,
                  void* workspace) {
  cudaEvent_t began = nullptr, ended = nullptr;
  if (cudaEventCreate(&began) != cudaSuccess || cudaEventCreate(&ended) != cudaSuccess) return;
  size_t best = 0;
  float best_ms = 0;
  for (size_t i = 0; i < choice.plans.size(); ++i) {
    if (!run(state, choice.plans[i], stream, data, weight, result, workspace)) continue;
    float ms = 0;
    if (cudaEventRecord(began, stream) != cudaSuccess || !run(state, choice.plans[i], stream, data, weight, result, workspace) ||
        cudaEventRecord(ended, stream) != cudaSuccess || cudaEventSynchronize(ended) != cudaSuccess ||
        cudaEventElapsedTime(&ms, began, ended) != cudaSuccess)
      continue;
    if (best_ms == 0 || ms < best_ms) {
      best = i;
      best_ms = ms;
    }
  }
  (void)cudaEventDestroy(began);
  (void)cudaEventDestroy(ended);
  (void)cudaGetLastError();  // of what did not run
  std::swap(choice.plans[0], choice.plans[best]);
  choice.plans.erase(choice.plans.begin() + 1, choice.plans.end());
}

bool suits(DType dtype) { return is_floating(dtype) && backends::cudnn::enabled.load() && cudnn().library.complete(); }

Problem problem_of(ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows, int64_t groups) {
  Problem p{part, in.dtype, in.sizes[0], in.sizes[1], out.sizes[1], groups, {}, {}, windows, 16};
  for (int d = 0; d < 3; ++d) {
    p.in[d] = in.sizes[d + 2];
    p.out[d] = out.sizes[d + 2];
  }
  for (const View* x : {&out, &in, &weight}) p.alignment = std::min<int64_t>(p.alignment, alignment_of(x->data));
  return p;
}

/// Runs a part; whether cuDNN did it.
bool convolve(const Queue& queue, ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows,
              int64_t groups, void* workspace) {
  if (!suits(in.dtype)) return false;
  const Problem p = problem_of(part, out, in, weight, windows, groups);
  DeviceState& owner = state_of<DeviceState>(queue.device);
  std::unique_lock lock(owner.mutex);
  Choice& choice = choice_for(owner, lock, p);
  if (choice.plans.empty()) return false;
  if (choice.plans.size() > 1 && !is_captured(queue))  // what is captured for a graph cannot be timed
    keep_fastest(owner, choice, stream_of(queue), in.data, weight.data, out.data, workspace);
  if (run(owner, choice.plans[0], stream_of(queue), in.data, weight.data, out.data, workspace)) return true;
  choice.plans.clear();
  return false;
}

/// out (n, o, …) += bias (o).
void add_bias(const Queue& queue, const Out& out, const View& bias) {
  Out whole = out;
  View along = bias;
  whole.ndim = along.ndim = 3;
  for (const int d : {0, 1}) along.sizes[d] = whole.sizes[d];
  along.sizes[2] = whole.sizes[2] = out.sizes[2] * out.sizes[3] * out.sizes[4];
  whole.strides[2] = 1;
  along.strides[1] = bias.strides[0];
  along.strides[0] = along.strides[2] = 0;
  cuda::pointwise(queue, pointwise_of(PointwiseOp::add, whole, {whole, along}));
}

}  // namespace

tandem::cuda::Library describe_cudnn() {
  return cudnn().library.description(cudnn().cudnnGetVersion ? version_text(cudnn().cudnnGetVersion(), 10000) : "");
}

size_t convolution_workspace(ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows,
                             int64_t groups, bool bias) {
  const size_t own = cuda::convolution_workspace(part, out, in, weight, windows, groups, bias);
  if (suits(in.dtype)) {
    const int device = device_of(in.data);
    const CudaDeviceGuard current(device);
    DeviceState& owner = state_of<DeviceState>(device);
    std::unique_lock lock(owner.mutex);
    const Choice& choice = choice_for(owner, lock, problem_of(part, out, in, weight, windows, groups));
    return std::max(own, choice.workspace());  // where the plan fails, our own kernel takes over
  }
  return own;
}

void convolution(const Queue& queue, Out out, View in, View weight, View bias, Windows windows, int64_t groups, void* workspace) {
  if (!convolve(queue, ConvolutionPart::Forward, out, in, weight, windows, groups, workspace))
    return cuda::convolution(queue, out, in, weight, bias, windows, groups, workspace);
  if (bias.data) add_bias(queue, out, bias);
}

void convolution_input(const Queue& queue, Out in, View out, View weight, Windows windows, int64_t groups, void* workspace) {
  if (!convolve(queue, ConvolutionPart::Input, out, in, weight, windows, groups, workspace))
    cuda::convolution_input(queue, in, out, weight, windows, groups, workspace);
}

void convolution_weight(const Queue& queue, Out weight, View out, View in, Windows windows, int64_t groups, void* workspace) {
  if (!convolve(queue, ConvolutionPart::Weight, out, in, weight, windows, groups, workspace))
    cuda::convolution_weight(queue, weight, out, in, windows, groups, workspace);
}

}  // namespace tandem::kernels::cuda::vendor
