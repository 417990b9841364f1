// Collectives of the ranks of one machine, threads or processes, over memory that they share.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "comm/backend.h"
#include "comm/shared_heap.h"
#include "comm/team.h"

namespace tandem::comm {

/// One rank's end. Of ranks that are threads, each uses the others' memory where it is; so do processes with `shared_memory`, and other
/// memory they show each other piece by piece.
/// Reductions take the ranks in their order, whatever the sizes, so that every rank gets the same bits, and the same in every run.
class LocalBackend final : public Backend {
 public:
  LocalBackend(std::shared_ptr<Team> team, int rank);

  [[nodiscard]] const char* name() const override { return "local"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return segment_.size(); }
  /// The CPU's, and virtual GPUs', whose memory the host can reach.
  [[nodiscard]] bool takes(Device device) const override;
  [[nodiscard]] bool compares_calls() const override { return true; }
  [[nodiscard]] std::shared_ptr<void> shared_memory(size_t bytes) override;

  void all_reduce(const Context& context, void* data, int64_t count, DType dtype, ReduceOp op) override;
  void broadcast(const Context& context, void* data, int64_t count, DType dtype, int root) override;
  void reduce(const Context& context, void* data, int64_t count, DType dtype, ReduceOp op, int root) override;
  void all_gather(const Context& context, void* out, const void* in, int64_t count, DType dtype) override;
  void reduce_scatter(const Context& context, void* out, const void* in, int64_t count, DType dtype, ReduceOp op) override;
  void all_to_all(const Context& context, void* out, const int64_t* out_counts, const void* in, const int64_t* in_counts,
                  DType dtype) override;
  void gather(const Context& context, void* out, const void* in, int64_t count, DType dtype, int root) override;
  void scatter(const Context& context, void* out, const void* in, int64_t count, DType dtype, int root) override;
  void barrier(const Context& context) override;
  void send(const Context& context, const void* data, int64_t count, DType dtype, int peer, int tag) override;
  void recv(const Context& context, void* data, int64_t count, DType dtype, int peer, int tag) override;

  [[nodiscard]] std::unique_ptr<Backend> sub_group(const Context& context, std::span<const int> ranks) override;
  void abort(const std::string& reason) noexcept override { segment_.abort(reason); }
  void leave() noexcept override { segment_.leave(rank_); }
  [[nodiscard]] void* recorder_memory() override { return segment_.recorder(rank_); }
  [[nodiscard]] const void* recorder_memory_of(int rank) const override { return segment_.recorder(rank); }
  [[nodiscard]] std::string describe(int rank) const override { return segment_.describe(rank); }

 private:
  struct Message {
    int tag;
    bool spoiled;  // the bytes say why
    std::vector<std::byte> bytes;
  };
  /// What there is for another rank.
  struct Box {
    std::mutex sending, receiving;
    std::vector<Message> kept;  // that came while another tag was waited for
  };
  [[nodiscard]] Box& box(int peer) { return boxes_[static_cast<size_t>(peer)]; }
  void write(const Context& context, int peer, const void* data, int device, size_t bytes);
  void read(const Context& context, int peer, void* data, int device, size_t bytes);

  std::shared_ptr<Team> team_;
  Segment& segment_;
  const int rank_;
  uint32_t signals_ = 0;              // that this rank has given
  std::shared_ptr<SharedHeap> heap_;  // of a process
  std::vector<Box> boxes_;
};

}  // namespace tandem::comm
