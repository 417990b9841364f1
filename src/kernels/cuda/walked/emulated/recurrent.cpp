// cuDNN's recurrent layers by our own kernels, walked on the host. cuDNN's want a handle, and that a GPU: nothing of its own is called, but
// that it has the functions of these names and signatures. The weight space has all matrices first, then all biases.
#include <cudnn.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/walked/emulated/library.h"
#include "kernels/recurrent_layers.h"

namespace tandem::kernels::cuda::emulated {
namespace {

/// What each call says that it wants, and looks for when it is called.
constexpr size_t kScratch = 1280;

struct Data {
  int64_t steps, batch, columns;
};

/// A parameter in the weight space, in elements.
struct Place {
  int64_t at, rows, columns;
};

/// The network that a descriptor is of.
struct Network {
  RecurrentLayers setting;
  DType dtype = kFloat32;
  int64_t input = 0, hidden = 0;

  [[nodiscard]] int64_t directions() const { return setting.bidirectional ? 2 : 1; }
  [[nodiscard]] int64_t parts() const { return setting.layers * directions(); }
  /// In the order of our kernels: w_ih, w_hh and, with biases, b_ih and b_hh of each layer and direction.
  [[nodiscard]] std::vector<Place> places() const {
    const int64_t rows = gates_of(setting.cell) * hidden;
    std::vector<Place> all;
    int64_t at = 0;
    for (int64_t part = 0; part < parts(); ++part) {
      for (const int64_t columns : {part < directions() ? input : directions() * hidden, hidden}) {
        all.push_back({at, rows, columns});
        at += rows * columns;
      }
      for (int i = 0; setting.biases && i < 2; ++i) all.push_back({0, rows, 1});
    }
    for (size_t i = 0; setting.biases && i < all.size(); ++i) {
      if (i % 4 < 2) continue;
      all[i].at = at;
      at += rows;
    }
    return all;
  }
  [[nodiscard]] size_t bytes() const {
    int64_t count = 0;
    for (const Place& place : places()) count += place.rows * place.columns;
    return static_cast<size_t>(count) * size_of(dtype);
  }
};

template <class Real, class Ours>
cudnnStatus_t create(Real** made) {
  *made = reinterpret_cast<Real*>(new Ours{});  // never freed: descriptors are kept
  return CUDNN_STATUS_SUCCESS;
}
const Network& network_of(cudnnRNNDescriptor_t descriptor) { return *reinterpret_cast<const Network*>(descriptor); }
const Data& data_of(cudnnRNNDataDescriptor_t descriptor) { return *reinterpret_cast<const Data*>(descriptor); }

/// A dense array, nothing where there is no data.
Out dense(const void* data, DType dtype, std::initializer_list<int64_t> sizes) {
  Out view{};
  view.data = const_cast<void*>(data);
  view.dtype = dtype;
  for (const int64_t size : sizes) view.sizes[view.ndim++] = size;
  int64_t stride = 1;
  for (int d = view.ndim - 1; d >= 0; --d) {
    view.strides[d] = stride;
    stride *= view.sizes[d];
  }
  return view;
}
Out sequence(const Network& n, const Data& data, const void* memory) {
  return dense(memory, n.dtype, {data.steps, data.batch, data.columns});
}
Out state(const Network& n, const Data& data, const void* memory) { return dense(memory, n.dtype, {n.parts(), data.batch, n.hidden}); }

std::vector<Out> parameters(const Network& n, const void* space) {
  std::vector<Out> all;
  for (const Place& place : n.places()) {
    const void* const data = static_cast<const char*>(space) + static_cast<size_t>(place.at) * size_of(n.dtype);
    all.push_back(place.columns == 1 && all.size() % 4 >= 2 && n.setting.biases ? dense(data, n.dtype, {place.rows})
                                                                                : dense(data, n.dtype, {place.rows, place.columns}));
  }
  return all;
}

RecurrentMemory memory_of(const Network& n, const Data& data) {
  static char any;
  return cuda::recurrent_memory(sequence(n, data, &any), state(n, data, &any), n.setting);
}

/// A call of our kernels: what they need besides data.
class Call {
 public:
  Call(const Network& n, const Data& data) : memory_(memory_of(n, data).workspace, static_cast<char>(kRubbish)) {
    queue_.status = &status_;
    queue_.op = "recurrent";
    queue_.device = 0;
    ++calls().recurrent;
  }
  ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] void* workspace() { return memory_.data(); }
  [[nodiscard]] cudnnStatus_t status() const {
    return status_.trouble.load() == Trouble::None ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  }

 private:
  std::vector<char> memory_;
  Status status_;
  Queue queue_;
};

/// Whether there is as much memory as was asked for; scratch is written to.
bool enough(const Network& n, size_t weights, size_t scratch_bytes, void* scratch) {
  if (weights != n.bytes() || scratch_bytes != kScratch || !scratch) return false;
  std::memset(scratch, kRubbish, scratch_bytes);
  return true;
}

cudnnStatus_t set_dropout(cudnnDropoutDescriptor_t, cudnnHandle_t, float dropout, void*, size_t, unsigned long long) {
  return dropout == 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t set_tensor(cudnnTensorDescriptor_t, cudnnDataType_t, int dims, const int*, const int*) {
  return dims == 3 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t set_network(cudnnRNNDescriptor_t descriptor, cudnnRNNAlgo_t, cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
                          cudnnDirectionMode_t direction, cudnnRNNInputMode_t input_mode, cudnnDataType_t type, cudnnDataType_t,
                          cudnnMathType_t, int32_t input, int32_t hidden, int32_t projection, int32_t layers, cudnnDropoutDescriptor_t,
                          uint32_t) {
  if (input_mode != CUDNN_LINEAR_INPUT || projection != hidden || layers < 1) return CUDNN_STATUS_BAD_PARAM;
  Network& n = *reinterpret_cast<Network*>(descriptor);
  n.setting.cell = mode == CUDNN_LSTM       ? RecurrentCell::Lstm
                   : mode == CUDNN_GRU      ? RecurrentCell::Gru
                   : mode == CUDNN_RNN_TANH ? RecurrentCell::Tanh
                                            : RecurrentCell::Relu;
  n.setting.layers = layers;
  n.setting.bidirectional = direction == CUDNN_BIDIRECTIONAL;
  n.setting.biases = bias == CUDNN_RNN_DOUBLE_BIAS;
  n.dtype = type == CUDNN_DATA_HALF ? kFloat16 : type == CUDNN_DATA_BFLOAT16 ? kBFloat16 : type == CUDNN_DATA_FLOAT ? kFloat32 : kFloat64;
  n.input = input;
  n.hidden = hidden;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_data(cudnnRNNDataDescriptor_t descriptor, cudnnDataType_t, cudnnRNNDataLayout_t layout, int steps, int batch, int columns,
                       const int* lengths, void*) {
  if (layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED || std::any_of(lengths, lengths + batch, [&](int n) { return n != steps; }))
    return CUDNN_STATUS_NOT_SUPPORTED;
  *reinterpret_cast<Data*>(descriptor) = {steps, batch, columns};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t temp_sizes(cudnnHandle_t, cudnnRNNDescriptor_t network, cudnnForwardMode_t, cudnnRNNDataDescriptor_t in, size_t* scratch,
                         size_t* reserve) {
  *scratch = kScratch;
  if (reserve) *reserve = memory_of(network_of(network), data_of(in)).reserve;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t weight_size(cudnnHandle_t, cudnnRNNDescriptor_t network, size_t* bytes) {
  *bytes = network_of(network).bytes();
  return CUDNN_STATUS_SUCCESS;
}

/// A gate of a part: first those of the input, then those of the state.
cudnnStatus_t weight_params(cudnnHandle_t, cudnnRNNDescriptor_t network, int32_t part, size_t bytes, const void* space, int32_t gate,
                            cudnnTensorDescriptor_t, void** matrix, cudnnTensorDescriptor_t, void** bias) {
  const Network& n = network_of(network);
  const int64_t gates = gates_of(n.setting.cell), each = n.setting.biases ? 4 : 2, of_state = gate >= gates ? 1 : 0;
  if (bytes != n.bytes() || part < 0 || part >= n.parts() || gate < 0 || gate >= 2 * gates) return CUDNN_STATUS_BAD_PARAM;
  const std::vector<Place> places = n.places();
  const auto address = [&](int64_t kind) {
    const Place& place = places.at(static_cast<size_t>(part * each + kind));
    const int64_t at = place.at + gate % gates * n.hidden * place.columns;
    return const_cast<char*>(static_cast<const char*>(space)) + static_cast<size_t>(at) * size_of(n.dtype);
  };
  if (matrix) *matrix = address(of_state);
  if (bias) *bias = n.setting.biases ? address(2 + of_state) : nullptr;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t forward(cudnnHandle_t, cudnnRNNDescriptor_t network, cudnnForwardMode_t mode, const int32_t*,
                      cudnnRNNDataDescriptor_t in_data, const void* in, cudnnRNNDataDescriptor_t out_data, void* out,
                      cudnnTensorDescriptor_t, const void* h0, void* h, cudnnTensorDescriptor_t, const void* c0, void* c, size_t bytes,
                      const void* space, size_t scratch_bytes, void* scratch, size_t reserve_bytes, void* reserve) {
  if (fails("cudnnRNNForward")) return CUDNN_STATUS_EXECUTION_FAILED;
  const Network& n = network_of(network);
  const Data& data = data_of(in_data);
  const bool training = mode == CUDNN_FWD_MODE_TRAINING;
  if (!enough(n, bytes, scratch_bytes, scratch) || reserve_bytes != (training ? memory_of(n, data).reserve : 0))
    return CUDNN_STATUS_BAD_PARAM;
  const std::vector<Out> weights = parameters(n, space);
  const std::vector<View> views(weights.begin(), weights.end());
  Call call(n, data);
  cuda::recurrent(call.queue(), sequence(n, data_of(out_data), out), state(n, data, h), state(n, data, c),
                  dense(training ? reserve : nullptr, kUInt8, {static_cast<int64_t>(reserve_bytes)}), sequence(n, data, in),
                  state(n, data, h0), state(n, data, c0), {views.data(), static_cast<int64_t>(views.size())}, n.setting, call.workspace());
  return call.status();
}

/// What the gradient of the weights needs of the call before it, by the reserve.
struct Gradients {
  const void *out_grad, *h_grad, *c_grad, *c0, *space;
};
std::map<const void*, Gradients>& pending() {
  static std::map<const void*, Gradients> all;
  return all;
}
std::mutex pending_mutex;

/// Both gradients are one call of our kernels, which uses the reserve up: it gets a copy.
cudnnStatus_t backward(const Network& n, const Data& data, const Data& out_data, const Gradients& above, const void* in, const void* out,
                       const void* h0, void* in_grad, void* h0_grad, void* c0_grad, const std::vector<Out>& weight_grads,
                       const void* reserve) {
  const std::vector<Out> weights = parameters(n, above.space);
  const std::vector<View> views(weights.begin(), weights.end());
  const auto* bytes = static_cast<const char*>(reserve);
  std::vector<char> kept(bytes, bytes + memory_of(n, data).reserve);
  Call call(n, data);
  cuda::recurrent_backward(call.queue(), sequence(n, data, in_grad), state(n, data, h0_grad), state(n, data, c0_grad),
                           {weight_grads.data(), static_cast<int64_t>(weight_grads.size())},
                           dense(kept.data(), kUInt8, {static_cast<int64_t>(kept.size())}), sequence(n, out_data, above.out_grad),
                           state(n, data, above.h_grad), state(n, data, above.c_grad), sequence(n, data, in), sequence(n, out_data, out),
                           state(n, data, h0), state(n, data, above.c0), {views.data(), static_cast<int64_t>(views.size())}, n.setting,
                           call.workspace());
  return call.status();
}

cudnnStatus_t backward_data(cudnnHandle_t, cudnnRNNDescriptor_t network, const int32_t*, cudnnRNNDataDescriptor_t out_data, const void* out,
                            const void* out_grad, cudnnRNNDataDescriptor_t in_data, void* in_grad, cudnnTensorDescriptor_t, const void* h0,
                            const void* h_grad, void* h0_grad, cudnnTensorDescriptor_t, const void* c0, const void* c_grad, void* c0_grad,
                            size_t bytes, const void* space, size_t scratch_bytes, void* scratch, size_t reserve_bytes, void* reserve) {
  const Network& n = network_of(network);
  const Data& data = data_of(in_data);
  if (!enough(n, bytes, scratch_bytes, scratch) || reserve_bytes != memory_of(n, data).reserve || !in_grad) return CUDNN_STATUS_BAD_PARAM;
  const Gradients above{out_grad, h_grad, c_grad, c0, space};
  {
    const std::lock_guard lock(pending_mutex);
    pending()[reserve] = above;
  }
  // Our kernel reads the input for the gradients of the weights alone.
  return backward(n, data, data_of(out_data), above, in_grad, out, h0, in_grad, h0_grad, c0_grad,
                  std::vector<Out>(n.places().size(), Out{}), reserve);
}

cudnnStatus_t backward_weights(cudnnHandle_t, cudnnRNNDescriptor_t network, cudnnWgradMode_t mode, const int32_t*,
                               cudnnRNNDataDescriptor_t in_data, const void* in, cudnnTensorDescriptor_t, const void* h0,
                               cudnnRNNDataDescriptor_t out_data, const void* out, size_t bytes, void* space, size_t scratch_bytes,
                               void* scratch, size_t reserve_bytes, void* reserve) {
  const Network& n = network_of(network);
  const Data& data = data_of(in_data);
  if (!enough(n, bytes, scratch_bytes, scratch) || reserve_bytes != memory_of(n, data).reserve || mode != CUDNN_WGRAD_MODE_ADD)
    return CUDNN_STATUS_BAD_PARAM;
  Gradients above{};
  {
    const std::lock_guard lock(pending_mutex);
    const auto found = pending().find(reserve);
    if (found == pending().end()) return CUDNN_STATUS_BAD_PARAM;  // the gradient of the data comes first
    above = found->second;
    pending().erase(found);
  }
  std::vector<char> found(n.bytes());
  const cudnnStatus_t status =
      backward(n, data, data_of(out_data), above, in, out, h0, nullptr, nullptr, nullptr, parameters(n, found.data()), reserve);
  visit_floating(n.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const sums = static_cast<T*>(space);
    const T* const more = reinterpret_cast<const T*>(found.data());
    for (size_t i = 0; i < n.bytes() / sizeof(T); ++i) sums[i] = to_element<T>(to_compute(sums[i]) + to_compute(more[i]));
  });
  return status;
}

}  // namespace

void* cudnn_rnn_stand_in(std::string_view name) {
  static const std::vector<StandIn> all{
      in_place_of<decltype(::cudnnCreateDropoutDescriptor)>("cudnnCreateDropoutDescriptor", create<cudnnDropoutStruct, char>),
      in_place_of<decltype(::cudnnSetDropoutDescriptor)>("cudnnSetDropoutDescriptor", set_dropout),
      in_place_of<decltype(::cudnnCreateTensorDescriptor)>("cudnnCreateTensorDescriptor", create<cudnnTensorStruct, char>),
      in_place_of<decltype(::cudnnSetTensorNdDescriptor)>("cudnnSetTensorNdDescriptor", set_tensor),
      in_place_of<decltype(::cudnnCreateRNNDescriptor)>("cudnnCreateRNNDescriptor", create<cudnnRNNStruct, Network>),
      in_place_of<decltype(::cudnnSetRNNDescriptor_v8)>("cudnnSetRNNDescriptor_v8", set_network),
      in_place_of<decltype(::cudnnCreateRNNDataDescriptor)>("cudnnCreateRNNDataDescriptor", create<cudnnRNNDataStruct, Data>),
      in_place_of<decltype(::cudnnSetRNNDataDescriptor)>("cudnnSetRNNDataDescriptor", set_data),
      in_place_of<decltype(::cudnnGetRNNTempSpaceSizes)>("cudnnGetRNNTempSpaceSizes", temp_sizes),
      in_place_of<decltype(::cudnnGetRNNWeightSpaceSize)>("cudnnGetRNNWeightSpaceSize", weight_size),
      in_place_of<decltype(::cudnnGetRNNWeightParams)>("cudnnGetRNNWeightParams", weight_params),
      in_place_of<decltype(::cudnnRNNForward)>("cudnnRNNForward", forward),
      in_place_of<decltype(::cudnnRNNBackwardData_v8)>("cudnnRNNBackwardData_v8", backward_data),
      in_place_of<decltype(::cudnnRNNBackwardWeights_v8)>("cudnnRNNBackwardWeights_v8", backward_weights),
  };
  return stand_in(all, name);
}

}  // namespace tandem::kernels::cuda::emulated
