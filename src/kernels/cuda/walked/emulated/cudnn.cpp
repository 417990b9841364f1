// cuDNN's convolutions on the host. Descriptors, heuristics and plans are cuDNN's own, made for a GPU that it is told of (h200.h) in place
// of a handle's; what descriptors are given is kept beside them, and goes from a convolution by its graph, heuristics and configuration to
// the plan that is executed.
#include <cudnn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/walked/emulated/convolution.h"
#include "kernels/cuda/walked/emulated/h200.h"
#include "kernels/cuda/walked/emulated/library.h"

namespace tandem::kernels::cuda::emulated {
namespace {

/// What is known of a descriptor; only what its type has is used.
struct Record {
  cudnnBackendDescriptorType_t type{};
  Tensor tensor;
  Sliding sliding;
  Convolution convolution;
  std::vector<void*> pointers;
  std::vector<int64_t> names;
  void* workspace = nullptr;
};

/// cuDNN's own functions, the GPU that it is told of, and all descriptors.
struct State {
  decltype(&::cudnnBackendCreateDescriptor) create = nullptr;
  decltype(&::cudnnBackendDestroyDescriptor) destroy = nullptr;
  decltype(&::cudnnBackendFinalize) finalize = nullptr;
  decltype(&::cudnnBackendSetAttribute) set = nullptr;
  decltype(&::cudnnBackendGetAttribute) get = nullptr;
  cudnnBackendDescriptor_t device = nullptr;
  std::mutex mutex;
  std::map<cudnnBackendDescriptor_t, Record> records;

  explicit State(void* library) {
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(own_function(library, name));
      return function != nullptr;
    };
    const bool complete = find(create, "cudnnBackendCreateDescriptor") && find(destroy, "cudnnBackendDestroyDescriptor") &&
                          find(finalize, "cudnnBackendFinalize") && find(set, "cudnnBackendSetAttribute") &&
                          find(get, "cudnnBackendGetAttribute");
    if (!complete || create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &device) != CUDNN_STATUS_SUCCESS ||
        set(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, kH200.size(), kH200.data()) != CUDNN_STATUS_SUCCESS ||
        finalize(device) != CUDNN_STATUS_SUCCESS)
      fail("TANDEM_VIRTUAL_KERNELS=libraries needs NVIDIA's cuDNN 9.8 or newer: the one found takes no description of a GPU");
  }
};

/// Made when the library is opened.
State& state(void* library = nullptr) {
  static auto* const kept = new State(library);
  return *kept;
}

cudnnStatus_t create_handle(cudnnHandle_t* handle) {
  static int any = 0;
  *handle = reinterpret_cast<cudnnHandle_t>(&any);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_stream(cudnnHandle_t, cudaStream_t) { return fails("cudnnSetStream") ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS; }

cudnnStatus_t create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
  const cudnnStatus_t status = state().create(type, made);
  const std::lock_guard lock(state().mutex);
  if (status == CUDNN_STATUS_SUCCESS) state().records[*made].type = type;
  return status;
}

cudnnStatus_t destroy(cudnnBackendDescriptor_t descriptor) {
  {
    const std::lock_guard lock(state().mutex);
    state().records.erase(descriptor);
  }
  return state().destroy(descriptor);
}

/// cuDNN may have no engine for a convolution, but each has to be described so that it makes sense. The one exception is not our mistake:
/// it wants as many results as fit, and a transposed convolution with an output padding of a stride or more has fewer.
cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
  const bool is_plan = [&] {
    const std::lock_guard lock(state().mutex);
    return state().records[descriptor].type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
  }();
  if (is_plan) wait_while_held();
  const cudnnStatus_t status = state().finalize(descriptor);
  if (status == CUDNN_STATUS_SUCCESS) {
    calls().plans += is_plan;
    return status;
  }
  const std::lock_guard lock(state().mutex);
  const Record& record = state().records[descriptor];
  switch (record.type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      if (leaves_results_out(record.convolution)) return status;
      [[fallthrough]];
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      fail("[convolution] cuDNN finds that its description makes no sense: status ", static_cast<int>(status), " for a descriptor of type ",
           static_cast<int>(record.type));
    default: return status;
  }
}

/// Keeps what a descriptor is given.
void keep(Record& record, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  const auto integers = [&] {
    return std::vector<int64_t>(static_cast<const int64_t*>(values), static_cast<const int64_t*>(values) + count);
  };
  const auto number = [&] { return type == CUDNN_TYPE_DOUBLE ? *static_cast<const double*>(values) : *static_cast<const float*>(values); };
  const auto other = [&]() -> const Record& { return state().records[*static_cast<const cudnnBackendDescriptor_t*>(values)]; };
  Convolution& convolution = record.convolution;
  switch (name) {
    case CUDNN_ATTR_TENSOR_DATA_TYPE: record.tensor.type = *static_cast<const cudnnDataType_t*>(values); break;
    case CUDNN_ATTR_TENSOR_DIMENSIONS: record.tensor.sizes = integers(); break;
    case CUDNN_ATTR_TENSOR_STRIDES: record.tensor.strides = integers(); break;
    case CUDNN_ATTR_TENSOR_UNIQUE_ID: record.tensor.name = integers().at(0); break;
    case CUDNN_ATTR_CONVOLUTION_CONV_MODE:
      if (*static_cast<const cudnnConvolutionMode_t*>(values) != CUDNN_CROSS_CORRELATION)
        fail("[convolution] flipped kernels are not emulated: CUDNN_CROSS_CORRELATION is");
      break;
    case CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS: record.sliding.padding = integers(); break;
    case CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES: record.sliding.stride = integers(); break;
    case CUDNN_ATTR_CONVOLUTION_DILATIONS: record.sliding.dilation = integers(); break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X: convolution.data = other().tensor; break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y:
      convolution.computed = Convolution::Computed::Result;
      convolution.result = other().tensor;
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX:
      convolution.computed = Convolution::Computed::Data;
      convolution.data = other().tensor;
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW:
      convolution.computed = Convolution::Computed::Weight;
      convolution.weight = other().tensor;
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X: convolution.data = other().tensor; break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W: convolution.weight = other().tensor; break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY: convolution.result = other().tensor; break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC: convolution.sliding = other().sliding; break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA: convolution.alpha = number(); break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA:
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA: convolution.beta = number(); break;
    case CUDNN_ATTR_OPERATIONGRAPH_OPS:
    case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
    case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG: convolution = other().convolution; break;
    case CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS:
      record.pointers.assign(static_cast<void* const*>(values), static_cast<void* const*>(values) + count);
      break;
    case CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS: record.names = integers(); break;
    case CUDNN_ATTR_VARIANT_PACK_WORKSPACE: record.workspace = *static_cast<void* const*>(values); break;
    default: break;
  }
}

/// The handle, which stands for no GPU, is left out: heuristics and plans are told of one instead.
cudnnStatus_t set_attribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            int64_t count, const void* values) {
  const auto tell_of_device = [&](cudnnBackendAttributeName_t property) {
    return state().set(descriptor, property, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &state().device);
  };
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE) return tell_of_device(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  const cudnnStatus_t status = state().set(descriptor, name, type, count, values);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  {
    const std::lock_guard lock(state().mutex);
    keep(state().records[descriptor], name, type, count, values);
  }
  return name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH ? tell_of_device(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP) : status;
}

/// The configurations that heuristics propose are for their convolution.
cudnnStatus_t get_attribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            int64_t room, int64_t* count, void* values) {
  const cudnnStatus_t status = state().get(descriptor, name, type, room, count, values);
  if (status != CUDNN_STATUS_SUCCESS || name != CUDNN_ATTR_ENGINEHEUR_RESULTS) return status;
  const std::lock_guard lock(state().mutex);
  const Convolution& convolution = state().records[descriptor].convolution;
  for (int64_t i = 0; i < std::min(room, *count); ++i)
    state().records[static_cast<const cudnnBackendDescriptor_t*>(values)[i]].convolution = convolution;
  return status;
}

cudnnStatus_t execute(cudnnHandle_t, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  if (fails("cudnnBackendExecute")) return CUDNN_STATUS_EXECUTION_FAILED;
  int64_t workspace = 0, count = 0;
  if (state().get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &workspace) != CUDNN_STATUS_SUCCESS)
    fail("[convolution] cuDNN's plan does not say what workspace it wants");
  Convolution convolution;
  Record given;
  {
    const std::lock_guard lock(state().mutex);
    convolution = state().records[plan].convolution;
    given = state().records[pack];
  }
  const auto find = [&](const Tensor& tensor) -> void* {
    const auto found = std::find(given.names.begin(), given.names.end(), tensor.name);
    return found == given.names.end() ? nullptr : given.pointers.at(static_cast<size_t>(found - given.names.begin()));
  };
  void *const data = find(convolution.data), *const weight = find(convolution.weight), *const result = find(convolution.result);
  if (!data || !weight || !result || (workspace > 0 && !given.workspace))
    fail("[convolution] cuDNN's plan lacks a tensor, or its workspace");
  ++calls().convolutions;
  if (workspace > 0) std::memset(given.workspace, kRubbish, static_cast<size_t>(workspace));
  compute(convolution, data, weight, result);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

void* cudnn_stand_in(void* library, std::string_view name) {
  if (name == "cudnnCreate") {
    state(library);
    return reinterpret_cast<void*>(create_handle);
  }
  if (name == "cudnnSetStream") return reinterpret_cast<void*>(set_stream);
  if (name == "cudnnBackendCreateDescriptor") return reinterpret_cast<void*>(create);
  if (name == "cudnnBackendDestroyDescriptor") return reinterpret_cast<void*>(destroy);
  if (name == "cudnnBackendFinalize") return reinterpret_cast<void*>(finalize);
  if (name == "cudnnBackendSetAttribute") return reinterpret_cast<void*>(set_attribute);
  if (name == "cudnnBackendGetAttribute") return reinterpret_cast<void*>(get_attribute);
  if (name == "cudnnBackendExecute") return reinterpret_cast<void*>(execute);
  return nullptr;
}

}  // namespace tandem::kernels::cuda::emulated
