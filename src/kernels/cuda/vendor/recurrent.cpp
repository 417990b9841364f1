// Recurrent layers through cuDNN. Descriptors are kept by shape. Where the parameters lie in memory as in cuDNN's weight space, which those
// of nn::LSTM and its like do, they are read there; else they are copied into one in the workspace before each call. Gradients are copied
// out of theirs. Its gates stand in our order: an LSTM's input, forget, cell, output, a GRU's reset, update, new, with both biases and the
// reset gate after the product. Where cuDNN is missing, refuses a shape, is switched off, or the same bits are wanted every time, which it
// does not promise, our own kernels do it.
//
// Backward has to go the way that forward went, whatever the switches have become since: the size of `reserve` tells it.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/backends.h"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/vendor/cudnn.h"
#include "kernels/cuda/vendor/vendor.h"
#include "kernels/recurrent_layers.h"

namespace tandem::kernels::cuda::vendor {
namespace {

/// What cuDNN has for recurrent layers; apart from its graphs, which do without it.
struct CudnnRnn {
  Library library{"cuDNN", "libcudnn.so." TD_TEXT(CUDNN_MAJOR)};
  TD_FUNCTION(cudnnCreateDropoutDescriptor);
  TD_FUNCTION(cudnnSetDropoutDescriptor);
  TD_FUNCTION(cudnnCreateTensorDescriptor);
  TD_FUNCTION(cudnnSetTensorNdDescriptor);
  TD_FUNCTION(cudnnCreateRNNDescriptor);
  TD_FUNCTION(cudnnSetRNNDescriptor_v8);
  TD_FUNCTION(cudnnCreateRNNDataDescriptor);
  TD_FUNCTION(cudnnSetRNNDataDescriptor);
  TD_FUNCTION(cudnnGetRNNTempSpaceSizes);
  TD_FUNCTION(cudnnGetRNNWeightSpaceSize);
  TD_FUNCTION(cudnnGetRNNWeightParams);
  TD_FUNCTION(cudnnRNNForward);
  TD_FUNCTION(cudnnRNNBackwardData_v8);
  TD_FUNCTION(cudnnRNNBackwardWeights_v8);
};

CudnnRnn& rnn() {
  static auto* const library = new CudnnRnn;
  return *library;
}

/// Who does a call. A reserve is as many bytes longer than a multiple of kAlignment as the number of the way that forward took.
enum class Way : size_t { Own, Cudnn, CudnnTf32 };

Way way_now(DType dtype) {
  if (!is_floating(dtype) || !backends::cudnn::enabled.load() || deterministic()) return Way::Own;
  if (!cudnn().library.complete() || !rnn().library.complete()) return Way::Own;
  return dtype == DType::Float32 && backends::cudnn::allow_tf32.load() ? Way::CudnnTf32 : Way::Cudnn;
}
Way way_of(const View& reserve) { return static_cast<Way>(static_cast<size_t>(reserve.sizes[0]) % kAlignment); }

struct Problem {
  RecurrentLayers layers;
  DType dtype;
  int64_t steps, batch, input, hidden;
  Way way;

  Problem(const View& in, const View& h0, const RecurrentLayers& layers, Way way)
      : layers(layers), dtype(in.dtype), steps(in.sizes[0]), batch(in.sizes[1]), input(in.sizes[2]), hidden(h0.sizes[2]), way(way) {}

  [[nodiscard]] int64_t directions() const { return layers.bidirectional ? 2 : 1; }
  [[nodiscard]] size_t input_bytes() const { return static_cast<size_t>(steps * batch * input) * size_of(dtype); }
};

using Key = std::array<int64_t, 10>;

Key key_of(const Problem& p) {
  return {static_cast<int64_t>(p.layers.cell),
          p.layers.layers,
          p.layers.bidirectional,
          p.layers.biases,
          static_cast<int64_t>(p.dtype),
          static_cast<int64_t>(p.way),
          p.steps,
          p.batch,
          p.input,
          p.hidden};
}

/// A stretch of a parameter, and where it lies in the weight space; all in bytes.
struct Piece {
  int64_t parameter;
  size_t from, to, size;
};

struct RnnDescriptors {
  cudnnDropoutDescriptor_t dropout = nullptr;  // none
  cudnnRNNDescriptor_t layers = nullptr;
  cudnnRNNDataDescriptor_t in = nullptr, out = nullptr;
  cudnnTensorDescriptor_t state = nullptr;
  cudnnTensorDescriptor_t piece = nullptr;  // for cuDNN to fill in
  size_t weights = 0, reserve = 0, scratch = 0;
  std::vector<Piece> pieces;            // found at the first call
  bool usable = false, proven = false;  // proven: forward has run, so a failure is an error and not a refusal

  /// Workspace: weights, their gradients, the gradient of an input that nobody wants, cuDNN's own.
  [[nodiscard]] size_t workspace(const Problem& p) const { return 2 * align_up(weights) + align_up(p.input_bytes()) + scratch; }
};

using DeviceState = CudnnState<Key, RnnDescriptors>;

cudnnRNNMode_t mode_of(RecurrentCell cell) {
  switch (cell) {
    case RecurrentCell::Tanh: return CUDNN_RNN_TANH;
    case RecurrentCell::Relu: return CUDNN_RNN_RELU;
    case RecurrentCell::Lstm: return CUDNN_LSTM;
    default: return CUDNN_GRU;
  }
}

cudnnMathType_t math_of(const Problem& p) {
  if (p.dtype == DType::Float16) return CUDNN_TENSOR_OP_MATH;
  return p.dtype == DType::Float32 && p.way != Way::CudnnTf32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

/// Makes descriptors one after another; after the first failure the rest is left out.
class Maker {
 public:
  Maker(const Problem& p, cudnnHandle_t handle) : p_(p), handle_(handle) {}

  RnnDescriptors make(int device) {
    RnnDescriptors descriptors;
    int major = 0;
    good_ = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess;
    good_ &= p_.dtype != DType::BFloat16 || major >= 8;  // older GPUs have no such products
    for (const int64_t size : {p_.steps, p_.batch, p_.input, p_.hidden * p_.directions(), p_.layers.layers * p_.directions()})
      good_ &= size <= std::numeric_limits<int>::max() / 2;
    layers(descriptors);
    data(descriptors.in, p_.input);
    data(descriptors.out, p_.hidden * p_.directions());
    state(descriptors.state);
    run([&] { return rnn().cudnnCreateTensorDescriptor(&descriptors.piece); });
    run([&] { return rnn().cudnnGetRNNWeightSpaceSize(handle_, descriptors.layers, &descriptors.weights); });
    size_t training = 0, inference = 0;
    run([&] {
      return rnn().cudnnGetRNNTempSpaceSizes(handle_, descriptors.layers, CUDNN_FWD_MODE_TRAINING, descriptors.in, &training,
                                             &descriptors.reserve);
    });
    run([&] {
      return rnn().cudnnGetRNNTempSpaceSizes(handle_, descriptors.layers, CUDNN_FWD_MODE_INFERENCE, descriptors.in, &inference, nullptr);
    });
    descriptors.scratch = std::max(training, inference);
    descriptors.usable = good_;
    return descriptors;
  }

 private:
  template <class F>
  void run(F f) {
    if (good_) good_ = f() == CUDNN_STATUS_SUCCESS;
  }

  void layers(RnnDescriptors& descriptors) {
    run([&] { return rnn().cudnnCreateDropoutDescriptor(&descriptors.dropout); });
    run([&] { return rnn().cudnnSetDropoutDescriptor(descriptors.dropout, handle_, 0, nullptr, 0, 0); });
    run([&] { return rnn().cudnnCreateRNNDescriptor(&descriptors.layers); });
    const auto hidden = static_cast<int32_t>(p_.hidden);
    run([&] {
      return rnn().cudnnSetRNNDescriptor_v8(descriptors.layers, CUDNN_RNN_ALGO_STANDARD, mode_of(p_.layers.cell),
                                            p_.layers.biases ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
                                            p_.layers.bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
                                            type_of(p_.dtype), p_.dtype == DType::Float64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
                                            math_of(p_), static_cast<int32_t>(p_.input), hidden, hidden, p_.layers.layers,
                                            descriptors.dropout, CUDNN_RNN_PADDED_IO_ENABLED);
    });
  }
  /// (steps, batch, columns), all sequences of the same length.
  void data(cudnnRNNDataDescriptor_t& made, int64_t columns) {
    run([&] { return rnn().cudnnCreateRNNDataDescriptor(&made); });
    if (!good_) return;
    const std::vector<int> lengths(static_cast<size_t>(p_.batch), static_cast<int>(p_.steps));
    run([&] {
      return rnn().cudnnSetRNNDataDescriptor(made, type_of(p_.dtype), CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, static_cast<int>(p_.steps),
                                             static_cast<int>(p_.batch), static_cast<int>(columns), lengths.data(), nullptr);
    });
  }
  void state(cudnnTensorDescriptor_t& made) {
    const auto batch = static_cast<int>(p_.batch), hidden = static_cast<int>(p_.hidden);
    const int sizes[3] = {static_cast<int>(p_.layers.layers * p_.directions()), batch, hidden}, strides[3] = {batch * hidden, hidden, 1};
    run([&] { return rnn().cudnnCreateTensorDescriptor(&made); });
    run([&] { return rnn().cudnnSetTensorNdDescriptor(made, type_of(p_.dtype), 3, sizes, strides); });
  }

  const Problem& p_;
  cudnnHandle_t handle_;
  bool good_ = true;
};

/// The plan of a problem on a GPU, made where it is new. `lock` holds the GPU's mutex.
RnnDescriptors& descriptors_for(DeviceState& state, std::unique_lock<std::mutex>& lock, const Problem& p, int device) {
  return state.of(lock, key_of(p), [&](cudnnHandle_t handle, RnnDescriptors& descriptors) { descriptors = Maker(p, handle).make(device); });
}

/// One call of either direction: its descriptors, its stream, and the workspace shared out.
class Call {
 public:
  Call(const Queue& queue, const Problem& p, DeviceState& state, RnnDescriptors& descriptors, void* workspace)
      : queue_(queue), p_(p), descriptors_(descriptors), handle_(state.handle), weights_(static_cast<char*>(workspace)) {
    weight_grads_ = weights_ + align_up(descriptors.weights);
    in_grad_ = weight_grads_ + align_up(descriptors.weights);
    scratch_ = in_grad_ + align_up(p.input_bytes());
  }

  /// Whether cuDNN did it. Where it refuses at the first call, the plan is not used any more; later a failure is an error where backward
  /// would look for what cuDNN was to keep.
  bool forward(const Out& out, const Out& h, const Out& c, const Out& reserve, const View& in, const View& h0, const View& c0,
               const Span<View>& weights) {
    start(weights);
    run("cudnnRNNForward", [&] {
      return rnn().cudnnRNNForward(handle_, descriptors_.layers, reserve.data ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, nullptr,
                                   descriptors_.in, in.data, descriptors_.out, out.data, descriptors_.state, h0.data, h.data, cells(),
                                   c0.data, c.data, descriptors_.weights, parameters_, descriptors_.scratch, scratch_,
                                   reserve.data ? descriptors_.reserve : 0, reserve.data);
    });
    descriptors_.proven |= !failed_;
    descriptors_.usable = descriptors_.proven;
    if (failed_ && !(descriptors_.proven && reserve.data)) return false;
    finish();
    return true;
  }

  void backward(const Out& in_grad, const Out& h0_grad, const Out& c0_grad, const Span<Out>& weight_grads, const Out& reserve,
                const View& grad, const View& h_grad, const View& c_grad, const View& in, const View& out, const View& h0, const View& c0,
                const Span<View>& weights) {
    start(weights);
    run("cudnnRNNBackwardData_v8", [&] {
      return rnn().cudnnRNNBackwardData_v8(handle_, descriptors_.layers, nullptr, descriptors_.out, out.data, grad.data, descriptors_.in,
                                           in_grad.data ? in_grad.data : in_grad_, descriptors_.state, h0.data, h_grad.data, h0_grad.data,
                                           cells(), c0.data, c_grad.data, c0_grad.data, descriptors_.weights, parameters_,
                                           descriptors_.scratch, scratch_, descriptors_.reserve, reserve.data);
    });
    if (std::any_of(weight_grads.begin(), weight_grads.end(), [](const Out& w) { return w.data != nullptr; })) {
      clear(weight_grads_);  // they are added to
      run("cudnnRNNBackwardWeights_v8", [&] {
        return rnn().cudnnRNNBackwardWeights_v8(handle_, descriptors_.layers, CUDNN_WGRAD_MODE_ADD, nullptr, descriptors_.in, in.data,
                                                descriptors_.state, h0.data, descriptors_.out, out.data, descriptors_.weights,
                                                weight_grads_, descriptors_.scratch, scratch_, descriptors_.reserve, reserve.data);
      });
      for (const Piece& piece : descriptors_.pieces)
        if (char* const to = weight_grads[piece.parameter].as<char>()) copy(to + piece.from, weight_grads_ + piece.to, piece.size);
    }
    finish();
  }

 private:
  /// Calls of cuDNN and of CUDA; after the first failure the rest is left out.
  template <class F>
  void run(const char* call, F f) {
    if (failed_) return;
    if (const auto status = f(); static_cast<int>(status) != 0) failed_ = vendor::failed(call, status);
  }
  void finish() {
    if (failed_) report(queue_, failed_);
  }
  void copy(void* to, const void* from, size_t bytes) {
    run("cudaMemcpyAsync", [&] { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(queue_)); });
  }
  void clear(char* weights) {
    run("cudaMemsetAsync", [&] { return cudaMemsetAsync(weights, 0, descriptors_.weights, stream_of(queue_)); });
  }
  [[nodiscard]] cudnnTensorDescriptor_t cells() const { return p_.layers.cell == RecurrentCell::Lstm ? descriptors_.state : nullptr; }

  void start(const Span<View>& weights) {
    run("cudnnSetStream", [&] { return cudnn().cudnnSetStream(handle_, stream_of(queue_)); });
    if (descriptors_.pieces.empty()) find_pieces();
    if (failed_) return;
    size_t packed = 0;
    for (const Piece& piece : descriptors_.pieces) packed += piece.size;
    const bool has_gaps = packed < descriptors_.weights;
    parameters_ = has_gaps ? nullptr : in_place(weights);
    if (parameters_) return;
    parameters_ = weights_;
    if (has_gaps) clear(weights_);
    for (const Piece& piece : descriptors_.pieces) copy(weights_ + piece.to, weights[piece.parameter].as<char>() + piece.from, piece.size);
  }

  /// The parameters' own memory where they lie there as in the weight space, nullptr where they do not.
  [[nodiscard]] const char* in_place(const Span<View>& weights) const {
    const char* begin = nullptr;
    for (const Piece& piece : descriptors_.pieces) {
      const char* const first = weights[piece.parameter].as<char>() + piece.from - piece.to;
      if (!begin) begin = first;
      if (first != begin || alignment_of(first) < kAlignment) return nullptr;
    }
    return begin;
  }

  /// Where cuDNN wants each gate of each parameter; neighbours are joined.
  void find_pieces() {
    const int64_t each = p_.layers.biases ? 4 : 2, gates = gates_of(p_.layers.cell);
    std::vector<Piece> pieces;
    for (int64_t part = 0; part < p_.layers.layers * p_.directions(); ++part) {
      for (int64_t kind = 0; kind < each; ++kind) {  // w_ih, w_hh, b_ih, b_hh
        const bool bias = kind >= 2, of_input = kind % 2 == 0;
        const int64_t columns = bias ? 1 : !of_input ? p_.hidden : part < p_.directions() ? p_.input : p_.directions() * p_.hidden;
        const size_t size = static_cast<size_t>(p_.hidden * columns) * size_of(p_.dtype);
        for (int64_t gate = 0; gate < gates; ++gate) {
          void* address = nullptr;
          run("cudnnGetRNNWeightParams", [&] {
            return rnn().cudnnGetRNNWeightParams(handle_, descriptors_.layers, static_cast<int32_t>(part), descriptors_.weights, weights_,
                                                 static_cast<int32_t>(of_input ? gate : gates + gate), bias ? nullptr : descriptors_.piece,
                                                 bias ? nullptr : &address, bias ? descriptors_.piece : nullptr, bias ? &address : nullptr);
          });
          const size_t to = static_cast<size_t>(static_cast<char*>(address) - weights_), from = static_cast<size_t>(gate) * size;
          if (!failed_ && (!address || to > descriptors_.weights || size > descriptors_.weights - to))
            failed_ = vendor::failed("cudnnGetRNNWeightParams", CUDNN_STATUS_BAD_PARAM);
          if (failed_) return;
          if (gate && pieces.back().to + pieces.back().size == to) pieces.back().size += size;
          else pieces.push_back({part * each + kind, from, to, size});
        }
      }
    }
    descriptors_.pieces = std::move(pieces);
  }

  const Queue& queue_;
  const Problem& p_;
  RnnDescriptors& descriptors_;
  cudnnHandle_t handle_;
  char *weights_, *weight_grads_, *in_grad_, *scratch_;
  const char* parameters_ = nullptr;  // in the order of the weight space
  const char* failed_ = nullptr;      // the text
};

}  // namespace

RecurrentMemory recurrent_memory(const View& in, const View& h0, const RecurrentLayers& layers) {
  RecurrentMemory memory = cuda::recurrent_memory(in, h0, layers);
  memory.reserve = align_up(memory.reserve);
  const Problem p(in, h0, layers, way_now(in.dtype));
  if (p.way == Way::Own) return memory;
  const int device = device_of(in.data);
  const CudaDeviceGuard current(device);
  DeviceState& owner = state_of<DeviceState>(device);
  std::unique_lock lock(owner.mutex);
  const RnnDescriptors& descriptors = descriptors_for(owner, lock, p, device);
  if (!descriptors.usable) return memory;
  return {std::max(memory.workspace, descriptors.workspace(p)),
          std::max(memory.reserve, align_up(descriptors.reserve)) + static_cast<size_t>(p.way)};
}

void recurrent(const Queue& queue, Out out, Out h, Out c, Out reserve, View in, View h0, View c0, Span<View> weights,
               RecurrentLayers layers, void* workspace) {
  const Problem p(in, h0, layers, reserve.data ? way_of(reserve) : way_now(in.dtype));
  if (p.way != Way::Own) {
    DeviceState& owner = state_of<DeviceState>(queue.device);
    std::unique_lock lock(owner.mutex);
    RnnDescriptors& descriptors = descriptors_for(owner, lock, p, queue.device);
    if (descriptors.usable && Call(queue, p, owner, descriptors, workspace).forward(out, h, c, reserve, in, h0, c0, weights)) return;
  }
  cuda::recurrent(queue, out, h, c, reserve, in, h0, c0, weights, layers, workspace);
}

void recurrent_backward(const Queue& queue, Out in_grad, Out h0_grad, Out c0_grad, Span<Out> weight_grads, Out reserve, View grad,
                        View h_grad, View c_grad, View in, View out, View h0, View c0, Span<View> weights, RecurrentLayers layers,
                        void* workspace) {
  const Problem p(in, h0, layers, reserve.data ? way_of(reserve) : Way::Own);
  if (p.way != Way::Own) {
    DeviceState& owner = state_of<DeviceState>(queue.device);
    std::unique_lock lock(owner.mutex);
    RnnDescriptors& descriptors = descriptors_for(owner, lock, p, queue.device);
    if (descriptors.usable)
      return Call(queue, p, owner, descriptors, workspace)
          .backward(in_grad, h0_grad, c0_grad, weight_grads, reserve, grad, h_grad, c_grad, in, out, h0, c0, weights);
  }
  cuda::recurrent_backward(queue, in_grad, h0_grad, c0_grad, weight_grads, reserve, grad, h_grad, c_grad, in, out, h0, c0, weights, layers,
                           workspace);
}

}  // namespace tandem::kernels::cuda::vendor
