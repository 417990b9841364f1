// Teams of threads: the segment is memory of the process that nobody else sees.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/error.h"
#include "comm/local/team.h"

namespace tandem::comm {
namespace {

class ThreadTeam final : public Team {
 public:
  explicit ThreadTeam(int size) : memory_(map(size)), segment_(memory_.get(), size, tandem::detail::Futex::Private, memory_) {
    for (int rank = 0; rank < size; ++rank) segment_.sit(rank, getpid());
  }
  [[nodiscard]] Segment& segment() override { return segment_; }

  [[nodiscard]] std::shared_ptr<Team> sub_team(const Context& context, int rank, std::span<const int> ranks) override {
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) return nullptr;
    // The first to come makes it, the last one takes it away from here.
    const std::lock_guard lock(mutex_);
    Made& made = made_[context.call.number];
    if (!made.team) made.team = std::make_shared<ThreadTeam>(static_cast<int>(ranks.size()));
    std::shared_ptr<Team> team = made.team;
    if (++made.taken == ranks.size()) made_.erase(context.call.number);
    return team;
  }

 private:
  struct Made {
    std::shared_ptr<Team> team;
    size_t taken = 0;
  };
  static std::shared_ptr<void> map(int size) {
    const size_t bytes = Segment::bytes_for(size, tandem::detail::Futex::Private);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail<OutOfMemoryError>("cannot map ", bytes, " bytes for a group of ", size, " ranks");
    return {memory, [bytes](void* address) { munmap(address, bytes); }};
  }

  std::shared_ptr<void> memory_;
  Segment segment_;
  std::mutex mutex_;
  std::map<uint64_t, Made> made_;  // by the number of the call
};

}  // namespace

std::shared_ptr<Team> make_thread_team(int size) { return std::make_shared<ThreadTeam>(size); }

}  // namespace tandem::comm
