// Graphs: work that is queued once and then done again and again by a single call, with the same memory. As torch.cuda.CUDAGraph.
//
//   td::cuda::Graph graph;
//   td::cuda::graph(graph, [&] { y = model(x); });  // nothing is computed yet
//   x.copy_(batch);
//   graph.replay();                                  // y holds the model's answer for batch
//
// A graph holds addresses, so tensors that it reads must live as long as it does, and what is fed to it is copied into them. Work that
// waits for the GPU - item(), printing, copies from pageable memory - cannot be part of it. On virtual GPUs a replay is one task that
// does everything in the order in which it was queued.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/stream.h"

namespace tandem::runtime {
class PoolHolder;
struct GraphState;
}  // namespace tandem::runtime

namespace tandem::cuda {

/// The memory that graphs take their tensors from. Graphs that are replayed one after another may share one. Empty until
/// graph_pool_handle makes it.
class GraphPool {
 public:
  GraphPool() = default;
  explicit GraphPool(std::shared_ptr<runtime::PoolHolder> holder) : holder_(std::move(holder)) {}
  /// For the library: what keeps the memory.
  [[nodiscard]] const std::shared_ptr<runtime::PoolHolder>& holder() const { return holder_; }
  friend bool operator==(const GraphPool&, const GraphPool&) = default;

 private:
  std::shared_ptr<runtime::PoolHolder> holder_;
};

/// A new pool, for GraphOptions. As torch.cuda.graph_pool_handle.
[[nodiscard]] GraphPool graph_pool_handle();

/// Captured work of one GPU. A copy is the same graph. Replays of graphs that share memory must not overlap: queue them on one stream, or
/// order their streams. Random numbers go on from replay to replay as the GPU's generator does; optimizers count their steps.
class Graph {
 public:
  Graph();

  /// From here on the calling thread's work on the current stream is recorded, not run, and its tensors come from `pool` (a new one where
  /// that is empty). Error on a default stream, in another capture, or where the graph holds something.
  void capture_begin(const GraphPool& pool = {}, Site site = Site::here());
  /// Ends it. Error where it cannot be replayed; the graph then holds nothing.
  void capture_end(Site site = Site::here());
  /// Queues the work on the current stream of the graph's GPU. Error where there is none.
  void replay(Site site = Site::here());
  /// Lets go of the work, and of the memory where no tensor has it.
  void reset();
  /// The pool its tensors came from. Error before a capture.
  [[nodiscard]] GraphPool pool() const;

 private:
  std::shared_ptr<runtime::GraphState> state_;
};

struct GraphOptions {
  GraphPool pool = {};                // empty: one of its own
  std::optional<Stream> stream = {};  // where not given: one that all captures of the GPU use
};

/// Captures what `work` queues on the current GPU: as `with torch.cuda.graph(graph):`. Waits for the GPU before it begins. Where `work`
/// throws, so does this, and the graph holds nothing.
void graph(Graph& graph, const std::function<void()>& work, const GraphOptions& options = {}, Site site = Site::here());

/// Whether work queued on the calling thread's current stream is recorded for a graph.
[[nodiscard]] bool is_current_stream_capturing();

}  // namespace tandem::cuda
