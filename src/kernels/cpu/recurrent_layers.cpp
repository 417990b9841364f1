#include "kernels/recurrent_layers.h"

#include "base/float_mode.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/shares.h"

namespace tandem::kernels::cpu {

void recurrent(const Queue& queue, Out out, Out h, Out c, Out reserve, View in, View h0, View c0, Span<View> weights,
               RecurrentLayers layers, void* workspace) {
  recurrent_layers(cpu_table(), queue, out, h, c, reserve, in, h0, c0, weights, layers, shares(), workspace);
}

void recurrent_backward(const Queue& queue, Out in_grad, Out h0_grad, Out c0_grad, Span<Out> weight_grads, Out reserve, View grad,
                        View h_grad, View c_grad, View in, View out, View h0, View c0, Span<View> weights, RecurrentLayers layers,
                        void* workspace) {
  // Through many steps a gradient becomes ever smaller, and would be subnormal for most of them.
  const detail::FloatModeScope mode(detail::flushing(detail::float_mode()));
  recurrent_layers_backward(cpu_table(), queue, in_grad, h0_grad, c0_grad, weight_grads, reserve, grad, h_grad, c_grad, in, out, h0, c0,
                            weights, layers, shares(), workspace);
}

RecurrentMemory recurrent_memory(const View& in, const View& h0, const RecurrentLayers& layers) {
  return recurrent_layers_memory(cpu_table(), in, h0, layers, shares());
}

}  // namespace tandem::kernels::cpu
