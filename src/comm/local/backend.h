// Collectives of the ranks of one machine, threads or processes, over memory that they share.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/backend.h"
#include "comm/local/shared_heap.h"
#include "comm/local/team.h"

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

  void run(const Context& context) override;
  [[nodiscard]] std::unique_ptr<Transfer> begin_message(const Context& context) override;
  [[nodiscard]] uint32_t news() override { return segment_.seat(rank_).mail.load(); }
  [[nodiscard]] bool wait_for_news(uint32_t seen) override { return segment_.wait_for_mail(rank_, seen); }
  void ring() noexcept override { segment_.ring(rank_); }

  [[nodiscard]] std::unique_ptr<Backend> sub_group(const Context& context, std::span<const int> ranks) override;
  void abort(const std::string& reason) noexcept override { segment_.abort(reason); }
  void leave() noexcept override { segment_.leave(rank_); }
  [[nodiscard]] void* recorder_memory() override { return segment_.recorder(rank_); }
  [[nodiscard]] const void* recorder_memory_of(int rank) const override { return segment_.recorder(rank); }
  [[nodiscard]] std::string describe(int rank) const override { return segment_.describe(rank); }

 private:
  class Sending;
  class Receiving;
  /// The beginning of a message as it travels.
  struct Header {
    uint64_t bytes = 0;
    int32_t tag = 0;
    uint32_t spoiled = 0;  // the bytes say why there are no elements
  };
  struct Message {
    int tag;
    bool spoiled;  // the bytes say why
    std::vector<std::byte> bytes;
  };
  /// The message that is being read.
  struct Incoming {
    Header header;
    size_t header_read = 0, read = 0;
    Receiving* receiver = nullptr;  // who gets the bytes as they come; nullptr: `bytes` does
    std::vector<std::byte> bytes;
  };
  /// What there is for another rank, and of it.
  struct Box {
    std::mutex sending;
    std::deque<Sending*> to_send;  // in their order
    std::mutex receiving;
    std::vector<Receiving*> asked;  // for what has not begun to come, in their order
    Incoming incoming;
    std::vector<Message> kept;  // that came before anybody asked for them
  };
  void run_message(const Context& context);
  [[nodiscard]] Box& box(int peer) { return boxes_[static_cast<size_t>(peer)]; }
  size_t write_some(int peer, const void* data, int device, size_t bytes);
  size_t read_some(int peer, size_t most, const std::function<void(const std::byte*, size_t)>& take);
  [[nodiscard]] bool has_mail(int peer) const;
  [[nodiscard]] bool has_room(int peer) const;
  void send_on(int peer, const Sending* own);
  void receive_on(int peer, const Receiving* own);
  bool read_message(Box& box, int peer);

  std::shared_ptr<Team> team_;
  Segment& segment_;
  const int rank_;
  uint32_t signals_ = 0;              // that this rank has given
  std::shared_ptr<SharedHeap> heap_;  // of a process
  std::vector<Box> boxes_;
};

}  // namespace tandem::comm
