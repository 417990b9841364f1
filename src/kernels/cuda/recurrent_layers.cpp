#include "kernels/recurrent_layers.h"

#include "kernels/cuda/entries.h"
#include "kernels/cuda/table.h"

namespace tandem::kernels::cuda {

void recurrent(const Queue& queue, Out out, Out h, Out c, Out reserve, View in, View h0, View c0, Span<View> weights,
               RecurrentLayers layers, void* workspace) {
  recurrent_layers(table(), queue, out, h, c, reserve, in, h0, c0, weights, layers, 1, workspace);
}

void recurrent_backward(const Queue& queue, Out in_grad, Out h0_grad, Out c0_grad, Span<Out> weight_grads, Out reserve, View grad,
                        View h_grad, View c_grad, View in, View out, View h0, View c0, Span<View> weights, RecurrentLayers layers,
                        void* workspace) {
  recurrent_layers_backward(table(), queue, in_grad, h0_grad, c0_grad, weight_grads, reserve, grad, h_grad, c_grad, in, out, h0, c0,
                            weights, layers, 1, workspace);
}

RecurrentMemory recurrent_memory(const View& in, const View& h0, const RecurrentLayers& layers) {
  return recurrent_layers_memory(table(), in, h0, layers, 1);
}

}  // namespace tandem::kernels::cuda
