// Attention of half types through cuDNN's graph interface. Where its headers know attention as one operation, that is tried first, without
// a causal mask; else a graph of products, pointwise operations and reductions that its attention engines recognize, as NVIDIA's
// cudnn-frontend (scaled_dot_product_flash_attention.h, softmax.h, diagonal_band_mask.h) lays it out. The first plan of the heuristics is
// kept by shape. What cuDNN has no plan for - other masks, dropout, which draws numbers of its own, odd sizes - our own kernels do; both
// keep the same logarithm for the gradient, so one may follow the other. They do few queries, too: a sequence that grows token by token
// would want a plan for each length.
#include "kernels/cuda/attention.h"

#include <array>
#include <limits>

#include "base/backends.h"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/vendor/cudnn_graph.h"
#include "kernels/cuda/vendor/vendor.h"

namespace tandem::kernels::cuda::vendor {
namespace {

// How plans call the tensors in memory. Sums: of the result times its gradient, a row; QuerySums: the queries' gradient while it is summed.
enum Name : int64_t { kQ = 1, kK, kV, kOut, kStats, kGrad, kQGrad, kKGrad, kVGrad, kScale, kHidden, kOne, kSums, kQuerySums };

struct Problem {
  bool backward, causal;
  DType dtype;
  int64_t b, h, g, m, n, d, e;
  Graph::Layout q, k, v;

  [[nodiscard]] Graph::Layout out() const { return Graph::Layout::dense({b, h, m, e}); }
  [[nodiscard]] Graph::Layout scores() const { return Graph::Layout::dense({b, h, m, n}); }
  [[nodiscard]] Graph::Layout rows() const { return Graph::Layout::dense({b, h, m, 1}); }
  [[nodiscard]] cudnnDataType_t type() const { return type_of(dtype); }
};

/// Everything that a plan depends on.
using Key = std::array<int64_t, 19>;

Key key_of(const Problem& p) {
  Key key = {p.backward, p.causal, static_cast<int64_t>(p.dtype), p.b, p.h, p.g, p.m, p.n, p.d, p.e};
  size_t at = 10;
  for (const Graph::Layout* x : {&p.q, &p.k, &p.v})
    for (int d = 0; d < 3; ++d) key[at++] = x->strides[static_cast<size_t>(d)];
  return key;
}

/// At most one plan, and whether it is of the single operation.
struct Choice {
  std::vector<ExecutionPlan> plans;
  bool single = false;
};

using DeviceState = CudnnState<Key, Choice>;

#if CUDNN_VERSION >= 91700
/// The graph of one operation.
void describe_single(const Problem& p, Graph& graph) {
  const Descriptor &q = graph.tensor(kQ, p.type(), p.q), &k = graph.tensor(kK, p.type(), p.k), &v = graph.tensor(kV, p.type(), p.v),
                   &out = graph.tensor(kOut, p.type(), p.out()), &stats = graph.tensor(kStats, CUDNN_DATA_FLOAT, p.rows()),
                   &scale = graph.number(kScale);
  if (!p.backward) {
    graph.operation(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, k)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, v)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, out)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, stats)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, scale)
        .finalize();
    return;
  }
  graph.operation(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, q)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, k)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, v)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, out)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, graph.tensor(kGrad, p.type(), p.out()))
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, stats)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, scale)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, graph.tensor(kQGrad, p.type(), Graph::Layout::dense(p.q.sizes)))
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, graph.tensor(kKGrad, p.type(), Graph::Layout::dense(p.k.sizes)))
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, graph.tensor(kVGrad, p.type(), Graph::Layout::dense(p.v.sizes)))
      .finalize();
}
#endif

/// x where the key is not after the query, else what exp makes 0 of. Not -infinity: older versions want a number.
const Descriptor& hidden_after(const Problem& p, Graph& graph, const Descriptor& x) {
  const Descriptor &row = graph.between(p.scores(), CUDNN_DATA_INT32), &column = graph.between(p.scores(), CUDNN_DATA_INT32),
                   &seen = graph.between(p.scores(), CUDNN_DATA_BOOLEAN), &out = graph.between(p.scores());
  graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, row, x, nullptr, nullptr, CUDNN_DATA_FLOAT, 2);
  graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, column, x, nullptr, nullptr, CUDNN_DATA_FLOAT, 3);
  graph.pointwise(CUDNN_POINTWISE_CMP_GE, seen, row, &column, nullptr, CUDNN_DATA_BOOLEAN);
  graph.pointwise(CUDNN_POINTWISE_BINARY_SELECT, out, x, &graph.number(kHidden), &seen);
  return out;
}

/// q kᵀ times the scale.
const Descriptor& scaled_scores(const Problem& p, Graph& graph, const Descriptor& q, const Descriptor& k_transposed,
                                const Descriptor& scale) {
  const Descriptor& products = graph.between(p.scores());
  graph.matmul(q, k_transposed, products);
  return graph.pointwise(CUDNN_POINTWISE_MUL, p.scores(), products, &scale);
}

void describe_forward(const Problem& p, Graph& graph) {
  const Descriptor &q = graph.tensor(kQ, p.type(), p.q), &k = graph.tensor(kK, p.type(), p.k.transposed()),
                   &v = graph.tensor(kV, p.type(), p.v), &scale = graph.number(kScale);
  const Descriptor* scores = &scaled_scores(p, graph, q, k, scale);
  if (p.causal) scores = &hidden_after(p, graph, *scores);
  const Descriptor& max = graph.between(p.rows());
  graph.reduce(CUDNN_REDUCE_TENSOR_MAX, max, *scores);
  const Descriptor& shifted = graph.pointwise(CUDNN_POINTWISE_SUB, p.scores(), *scores, &max);
  const Descriptor& exponentials = graph.pointwise(CUDNN_POINTWISE_EXP, p.scores(), shifted);
  const Descriptor& sum = graph.between(p.rows());
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, sum, exponentials);
  const Descriptor& logarithm = graph.pointwise(CUDNN_POINTWISE_LOG, p.rows(), sum);
  graph.pointwise(CUDNN_POINTWISE_ADD, graph.tensor(kStats, CUDNN_DATA_FLOAT, p.rows()), max, &logarithm);
  const Descriptor& weights = graph.between(p.scores(), p.type());
  graph.pointwise(CUDNN_POINTWISE_DIV, weights, exponentials, &sum);
  graph.matmul(weights, v, graph.tensor(kOut, p.type(), p.out()));
}

/// The gradient of keys or values: the transposed weights, or their gradient, times `rows`, summed over heads that share them.
void describe_gradient(const Problem& p, Graph& graph, const Descriptor& weights, const Descriptor& rows, int64_t name,
                       const Graph::Sizes& sizes) {
  const Descriptor& transposed = graph.reshape(weights, p.scores().transposed(), p.type());
  const Descriptor& result = graph.tensor(name, p.type(), Graph::Layout::dense(sizes));
  if (p.g == p.h) return graph.matmul(transposed, rows, result);
  const Descriptor& of_heads = graph.between(Graph::Layout::dense({p.b, p.h, sizes[2], sizes[3]}), p.type());
  graph.matmul(transposed, rows, of_heads);
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, result, of_heads);
}

void describe_backward(const Problem& p, Graph& graph) {
  const Descriptor &q = graph.tensor(kQ, p.type(), p.q), &k = graph.tensor(kK, p.type(), p.k.transposed()),
                   &v = graph.tensor(kV, p.type(), p.v.transposed()), &out = graph.tensor(kOut, p.type(), p.out()),
                   &grad = graph.tensor(kGrad, p.type(), p.out()), &stats = graph.tensor(kStats, CUDNN_DATA_FLOAT, p.rows()),
                   &sums = graph.tensor(kSums, CUDNN_DATA_FLOAT, p.rows()), &scale = graph.number(kScale);
  // The sums of the result times its gradient. The product with 1 stands where dropout would have its factor.
  const Descriptor &products = graph.pointwise(CUDNN_POINTWISE_MUL, p.out(), grad, &out), &row_sums = graph.between(p.rows());
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, row_sums, products);
  graph.pointwise(CUDNN_POINTWISE_MUL, sums, row_sums, &graph.number(kOne));
  // The weights, and the gradient of the values.
  const Descriptor& scores = scaled_scores(p, graph, q, k, scale);
  const Descriptor* shifted = &graph.pointwise(CUDNN_POINTWISE_SUB, p.scores(), scores, &stats);
  if (p.causal) shifted = &hidden_after(p, graph, *shifted);
  const Descriptor& weights = graph.pointwise(CUDNN_POINTWISE_EXP, p.scores(), *shifted);
  describe_gradient(p, graph, weights, grad, kVGrad, p.v.sizes);
  // The gradient of the scores, and those of keys and queries.
  const Descriptor& to_weights = graph.between(p.scores());
  graph.matmul(grad, v, to_weights);
  const Descriptor& centered = graph.pointwise(CUDNN_POINTWISE_SUB, p.scores(), to_weights, &sums);
  const Descriptor& to_scores = graph.pointwise(CUDNN_POINTWISE_MUL, p.scores(), centered, &weights);
  const Descriptor& scaled = graph.pointwise(CUDNN_POINTWISE_MUL, p.scores(), to_scores, &scale);
  describe_gradient(p, graph, scaled, q, kKGrad, p.k.sizes);
  const Descriptor& query_sums = graph.tensor(kQuerySums, CUDNN_DATA_FLOAT, Graph::Layout::dense(p.q.sizes));
  graph.matmul(scaled, graph.reshape(k, p.k, p.type()), query_sums);
  graph.pointwise(CUDNN_POINTWISE_IDENTITY, graph.tensor(kQGrad, p.type(), Graph::Layout::dense(p.q.sizes)), query_sums);
}

void make(const Problem& p, cudnnHandle_t handle, Choice& choice) {
  const auto find = [&](const Graph& graph) {
    const Descriptor finished = graph.finished(handle);
    if (finished.good()) find_plans(handle, finished, 1, choice.plans, [](const Descriptor&) { return true; });
  };
#if CUDNN_VERSION >= 91700
  if (!p.causal) {
    Graph graph;
    describe_single(p, graph);
    find(graph);
    choice.single = !choice.plans.empty();
  }
#endif
  if (!choice.plans.empty()) return;
  Graph graph;
  (p.backward ? describe_backward : describe_forward)(p, graph);
  find(graph);
}

/// The plan of a call, made where its shape is new; none where cuDNN cannot do it. `lock` holds the GPU's mutex.
Choice& choice_for(DeviceState& state, std::unique_lock<std::mutex>& lock, const Problem& p) {
  return state.of(lock, key_of(p), [&p](cudnnHandle_t handle, Choice& choice) { make(p, handle, choice); });
}

/// Whether cuDNN may be asked. Its gradients are added up in any order, and wrong in some versions where keys do not fill their blocks.
bool suits(const View& q, const View& k, const View& v, const View& mask, const Attention& how, bool backward) {
  if (!is_half(q.dtype) || mask.data || how.dropout > 0 || !backends::cudnn::enabled.load() || !cudnn().library.complete()) return false;
  if (backward && (deterministic() || (k.sizes[2] % 128 != 0 && cudnn().cudnnGetVersion() < 91700))) return false;
  if (has_few_queries(q) || k.sizes[2] == 1) return false;
  for (const View* x : {&q, &k, &v}) {
    if (x->sizes[3] % 8 != 0 || x->sizes[3] > 128 || alignment_of(x->data) < 16) return false;
    for (int d = 0; d < 3; ++d)
      if (x->sizes[d] > 1 && (x->strides[d] <= 0 || x->strides[d] % 8 != 0)) return false;
  }
  return true;
}

Graph::Layout layout_of(const View& x) {
  Graph::Layout layout = Graph::Layout::dense({x.sizes[0], x.sizes[1], x.sizes[2], x.sizes[3]});
  for (size_t d = 0; d < 3; ++d)
    if (x.sizes[d] > 1) layout.strides[d] = x.strides[d];
  return layout;
}

Problem problem_of(const View& q, const View& k, const View& v, const Attention& how, bool backward) {
  return {backward,   how.causal, q.dtype,    q.sizes[0],   q.sizes[1],   k.sizes[1],  q.sizes[2],
          k.sizes[2], q.sizes[3], v.sizes[3], layout_of(q), layout_of(k), layout_of(v)};
}

/// What lies in the workspace before what the plan wants, for forward the statistics only.
struct Parts {
  int64_t stats, grad, sums, query_sums;
  explicit Parts(const Problem& p)
      : stats(p.backward ? 0 : align_up(p.b * p.h * p.m * 4)),
        grad(p.backward ? align_up(p.b * p.h * p.m * p.e * 2) : 0),
        sums(p.backward ? align_up(p.b * p.h * p.m * 4) : 0),
        query_sums(p.backward ? align_up(p.b * p.h * p.m * p.d * 4) : 0) {}
  [[nodiscard]] int64_t bytes() const { return stats + grad + sums + query_sums; }
};

/// Tensors for a run, by name.
struct Bound {
  int64_t count = 0;
  std::array<int64_t, 16> names{};
  std::array<const void*, 16> pointers{};

  void add(int64_t name, const void* pointer) {
    names[static_cast<size_t>(count)] = name;
    pointers[static_cast<size_t>(count++)] = pointer;
  }
};

/// Calls `bind(bound, single)` and runs the plan for a problem; false where there is none, or it fails.
template <class Bind>
bool run(const Queue& queue, const Problem& p, const Attention& how, char* workspace, Bind bind) {
  DeviceState& owner = state_of<DeviceState>(queue.device);
  std::unique_lock lock(owner.mutex);
  Choice& choice = choice_for(owner, lock, p);
  if (choice.plans.empty()) return false;
  const float scale = static_cast<float>(how.scale), hidden = std::numeric_limits<float>::lowest(), one = 1;
  Bound bound;
  bound.add(kScale, &scale);
  if (p.causal) bound.add(kHidden, &hidden);
  if (p.backward && !choice.single) bound.add(kOne, &one);
  bind(bound, choice.single);
  if (run_plan_on(stream_of(queue), owner.handle, choice.plans[0], bound.count, bound.names.data(), bound.pointers.data(),
                  workspace + Parts(p).bytes()))
    return true;
  choice.plans.clear();
  return false;
}

}  // namespace

size_t attention_workspace(const View& q, const View& k, const View& v, const View& mask, const Attention& how, bool backward) {
  const size_t own = cuda::attention_workspace(q, k, v, mask, how, backward);
  if (suits(q, k, v, mask, how, backward)) {
    const Problem p = problem_of(q, k, v, how, backward);
    const int device = device_of(q.data);
    const CudaDeviceGuard current(device);
    DeviceState& owner = state_of<DeviceState>(device);
    std::unique_lock lock(owner.mutex);
    const Choice& choice = choice_for(owner, lock, p);
    if (!choice.plans.empty()) return std::max(own, static_cast<size_t>(Parts(p).bytes() + choice.plans[0].workspace));
  }
  return own;
}

void attention(const Queue& queue, Out out, Out normalizer, View q, View k, View v, View mask, Attention how, void* workspace) {
  auto* const memory = static_cast<char*>(workspace);
  if (suits(q, k, v, mask, how, false) && run(queue, problem_of(q, k, v, how, false), how, memory, [&](Bound& bound, bool) {
        bound.add(kQ, q.data);
        bound.add(kK, k.data);
        bound.add(kV, v.data);
        bound.add(kOut, out.data);
        bound.add(kStats, normalizer.data ? normalizer.data : memory);
      }))
    return;
  cuda::attention(queue, out, normalizer, q, k, v, mask, how, workspace);
}

void attention_backward(const Queue& queue, Out q_grad, Out k_grad, Out v_grad, View grad, View q, View k, View v, View mask, View out,
                        View normalizer, Attention how, void* workspace) {
  auto* const memory = static_cast<char*>(workspace);
  if (suits(q, k, v, mask, how, true)) {
    const Problem p = problem_of(q, k, v, how, true);
    const Parts parts(p);
    if (run(queue, p, how, memory, [&](Bound& bound, bool single) {
          Out dense{grad};
          if (!grad.contiguous() || alignment_of(grad.data) < 16) {
            dense.data = memory;
            const Graph::Layout layout = p.out();
            for (size_t d = 0; d < 4; ++d) dense.strides[d] = layout.strides[d];
            cuda::copy(queue, dense, grad);
          }
          bound.add(kQ, q.data);
          bound.add(kK, k.data);
          bound.add(kV, v.data);
          bound.add(kOut, out.data);
          bound.add(kGrad, dense.data);
          bound.add(kStats, normalizer.data);
          bound.add(kQGrad, q_grad.data);
          bound.add(kKGrad, k_grad.data);
          bound.add(kVGrad, v_grad.data);
          if (single) return;
          bound.add(kSums, memory + parts.grad);
          bound.add(kQuerySums, memory + parts.grad + parts.sums);
          // Versions before 9.6 add to what is there.
          (void)cudaMemsetAsync(memory + parts.grad + parts.sums, 0, static_cast<size_t>(parts.query_sums), stream_of(queue));
        }))
      return;
  }
  cuda::attention_backward(queue, q_grad, k_grad, v_grad, grad, q, k, v, mask, out, normalizer, how, workspace);
}

}  // namespace tandem::kernels::cuda::vendor
