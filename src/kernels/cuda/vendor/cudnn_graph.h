// Describing a graph of operations to cuDNN, and the plans that it has for one.
#pragma once

#include <array>
#include <deque>

#include "kernels/cuda/vendor/cudnn.h"

namespace tandem::kernels::cuda::vendor {

/// cuDNN's execution plan of a graph, and the bytes of workspace that it needs.
struct ExecutionPlan {
  Descriptor config, plan;  // a plan may refer to what it was made from
  int64_t workspace = 0;
};

/// Adds plans for a graph, in the order of the heuristics, until there are as many as wanted: those whose engine configuration `accept`
/// takes.
template <class Accept>
void find_plans(cudnnHandle_t handle, const Descriptor& graph, size_t wanted, std::vector<ExecutionPlan>& plans, Accept accept) {
  constexpr int kProposed = 16;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph).set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode).finalize();
    std::vector<Descriptor> configs;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (int i = 0; i < kProposed; ++i) handles.push_back(configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
    const int64_t count =
        heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(handles.size()), handles.data());
    for (int64_t i = 0; i < count && plans.size() < wanted; ++i) {
      if (!accept(configs[static_cast<size_t>(i)])) continue;
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle)
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[static_cast<size_t>(i)])
          .finalize();
      int64_t workspace = 0;
      if (!plan.good() || plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &workspace) != 1) continue;
      plans.push_back({std::move(configs[static_cast<size_t>(i)]), std::move(plan), workspace});
    }
    if (!plans.empty()) return;
  }
}

/// Queues a plan on tensors of these names.
inline cudnnStatus_t run_plan(cudnnHandle_t handle, const ExecutionPlan& plan, int64_t count, const int64_t* names,
                              const void* const* pointers, void* workspace) {
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, pointers)
      .set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, names)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace)
      .finalize();
  return pack.good() ? cudnn().cudnnBackendExecute(handle, plan.plan.get(), pack.get()) : pack.status();
}

/// The same on a stream of the handle's GPU. Where cuDNN fails, that is noted, and the caller does it by a kernel of ours: nothing has
/// been written. Whether it was queued.
inline bool run_plan_on(cudaStream_t stream, cudnnHandle_t handle, const ExecutionPlan& plan, int64_t count, const int64_t* names,
                        const void* const* pointers, void* workspace) {
  if (const cudnnStatus_t status = cudnn().cudnnSetStream(handle, stream); status != CUDNN_STATUS_SUCCESS)
    return failed("cudnnSetStream", status), false;
  if (const cudnnStatus_t status = run_plan(handle, plan, count, names, pointers, workspace); status != CUDNN_STATUS_SUCCESS)
    return failed("cudnnBackendExecute", status), false;
  return true;
}

/// A graph being described. Tensors have four dimensions; those without a name are virtual: they never lie in memory.
class Graph {
 public:
  using Sizes = std::array<int64_t, 4>;
  struct Layout {
    Sizes sizes, strides;
    /// Dense, the last dimension fastest.
    static Layout dense(const Sizes& sizes) { return {sizes, {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1}}; }
    /// The last two dimensions exchanged.
    [[nodiscard]] Layout transposed() const {
      return {{sizes[0], sizes[1], sizes[3], sizes[2]}, {strides[0], strides[1], strides[3], strides[2]}};
    }
  };

  const Descriptor& tensor(int64_t name, cudnnDataType_t type, const Layout& layout, bool is_virtual = false, bool by_value = false) {
    Descriptor& made = kept_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, layout.sizes.data())
        .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, layout.strides.data())
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, name)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, int64_t{16});
    if (is_virtual) made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
    if (by_value) made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
    return made.finalize();
  }
  /// A number that the caller hands over, by its address, with each call.
  const Descriptor& number(int64_t name) { return tensor(name, CUDNN_DATA_FLOAT, Layout::dense({1, 1, 1, 1}), false, true); }
  const Descriptor& between(const Layout& layout, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return tensor(kFirstVirtual + virtuals_++, type, layout, true);
  }

  void matmul(const Descriptor& a, const Descriptor& b, const Descriptor& out) {
    Descriptor& how = kept_.emplace_back(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).finalize();
    operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, out)
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how)
        .finalize();
  }
  /// out = the operation of x, or of x and b, or where `condition` x, else b.
  void pointwise(cudnnPointwiseMode_t mode, const Descriptor& out, const Descriptor& x, const Descriptor* b = nullptr,
                 const Descriptor* condition = nullptr, cudnnDataType_t precision = CUDNN_DATA_FLOAT, int64_t axis = -1) {
    Descriptor& how = kept_.emplace_back(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, precision);
    if (axis >= 0) how.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
    how.finalize();
    Descriptor& made = operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    made.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how).set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b) made.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    if (condition) made.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *condition);
    made.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, out).finalize();
  }
  /// The same with a virtual result.
  const Descriptor& pointwise(cudnnPointwiseMode_t mode, const Layout& layout, const Descriptor& x, const Descriptor* b = nullptr) {
    const Descriptor& out = between(layout);
    pointwise(mode, out, x, b);
    return out;
  }
  /// Over the dimensions in which out has size 1.
  void reduce(cudnnReduceTensorOp_t op, const Descriptor& out, const Descriptor& x) {
    Descriptor& how = kept_.emplace_back(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    how.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
        .finalize();
    operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, out)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how)
        .finalize();
  }
  /// The same elements in another layout.
  const Descriptor& reshape(const Descriptor& x, const Layout& layout, cudnnDataType_t type) {
    const Descriptor& out = between(layout, type);
    operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, out)
        .finalize();
    return out;
  }
  /// An operation without a function of its own here: to be set and finalized.
  Descriptor& operation(cudnnBackendDescriptorType_t type) {
    Descriptor& made = kept_.emplace_back(type);
    operations_.push_back(&made);
    return made;
  }

  /// All of it, for plans to be found.
  [[nodiscard]] Descriptor finished(cudnnHandle_t handle) const {
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor* each : operations_) handles.push_back(each->good() ? each->get() : nullptr);
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle)
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(handles.size()), handles.data())
        .finalize();
    return graph;
  }

 private:
  static constexpr int64_t kFirstVirtual = 100;
  std::deque<Descriptor> kept_;
  std::vector<const Descriptor*> operations_;
  int64_t virtuals_ = 0;
};

}  // namespace tandem::kernels::cuda::vendor
