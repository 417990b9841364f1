// Teams of processes: the segment is a file without a name that rank 0 makes and hands to the others. The kernel frees it with the last of
// them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "comm/local/rendezvous.h"
#include "comm/local/team.h"

namespace tandem::comm {
namespace {

size_t bytes_for(int size) { return Segment::bytes_for(size, tandem::detail::Futex::Shared); }

Descriptor make_file(int size) {
  Descriptor file(memfd_create("tandem-comm", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0) fail("[init_process_group] no shared memory: ", std::strerror(errno), errno == EMFILE ? "; raise `ulimit -n`" : "");
  const size_t bytes = bytes_for(size);
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    fail<OutOfMemoryError>("[init_process_group] shared memory of ", bytes, " bytes: ", std::strerror(errno));
  fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return file;
}

std::shared_ptr<void> map(const Descriptor& file, int size) {
  const size_t bytes = bytes_for(size);
  struct stat about {};
  if (fstat(file.get(), &about) != 0 || about.st_size != static_cast<off_t>(bytes))
    fail("[init_process_group] the ranks' shared memory has ", about.st_size, " bytes, not ", bytes, ": the ranks run different versions");
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (memory == MAP_FAILED) fail<OutOfMemoryError>("cannot map ", bytes, " bytes for a group of ", size, " ranks: ", std::strerror(errno));
  return {memory, [bytes](void* address) { munmap(address, bytes); }};
}

class ProcessTeam final : public Team {
 public:
  ProcessTeam(std::shared_ptr<Connections> connections, std::vector<int> members, const Descriptor& file)
      : connections_(std::move(connections)),
        members_(std::move(members)),
        memory_(map(file, static_cast<int>(members_.size()))),
        segment_(memory_.get(), static_cast<int>(members_.size()), tandem::detail::Futex::Shared, memory_) {
    for (size_t i = 0; i < members_.size(); ++i) {
      const auto rank = static_cast<size_t>(members_[i]);
      const int pid = connections_->pids[rank], process = connections_->processes[rank].get();
      const int watch = process >= 0 ? process : pid == getpid() ? Segment::kUnwatched : Segment::kEnded;
      segment_.sit(static_cast<int>(i), pid, watch, members_[i]);
    }
  }
  [[nodiscard]] Segment& segment() override { return segment_; }

  [[nodiscard]] std::shared_ptr<Team> sub_team(const Context& context, int rank, std::span<const int> ranks) override {
    if (members_.size() != connections_->pids.size()) fail("[new_group] a group of processes is made of all ranks, not of another group");
    const bool member = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    const std::vector<int> members(ranks.begin(), ranks.end());
    // The first rank makes it for the members, whether it is one or not.
    if (rank == 0) {
      const Descriptor file = make_file(static_cast<int>(ranks.size()));
      for (const int other : ranks)
        if (other != 0) send_descriptor(connections_->sockets[static_cast<size_t>(other)].get(), context.call.number, file.get());
      return member ? std::make_shared<ProcessTeam>(connections_, members, file) : nullptr;
    }
    if (!member) return nullptr;
    const Descriptor file = receive_descriptor(connections_->sockets[0].get(), context.call.number, context.deadline);
    return std::make_shared<ProcessTeam>(connections_, members, file);
  }

 private:
  std::shared_ptr<Connections> connections_;
  std::vector<int> members_;  // ranks of the whole program
  std::shared_ptr<void> memory_;
  Segment segment_;
};

}  // namespace

std::shared_ptr<Team> make_process_team(const std::string& name, int rank, int size, std::chrono::milliseconds timeout) {
  auto connections = std::make_shared<Connections>(meet(name, rank, size, timeout));
  std::vector<int> everyone;
  for (int i = 0; i < size; ++i) everyone.push_back(i);
  if (rank != 0) {
    const Descriptor file = receive_descriptor(connections->sockets[0].get(), 0, Clock::now() + timeout);
    return std::make_shared<ProcessTeam>(std::move(connections), std::move(everyone), file);
  }
  const Descriptor file = make_file(size);
  for (int other = 1; other < size; ++other) send_descriptor(connections->sockets[static_cast<size_t>(other)].get(), 0, file.get());
  return std::make_shared<ProcessTeam>(std::move(connections), std::move(everyone), file);
}

}  // namespace tandem::comm
