#include "comm/mpi/backend.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/env.h"
#include "base/error.h"
#include "base/splitmix.h"
#include "comm/launched.h"
#include "comm/mpi/types.h"
#include "comm/recorder.h"

namespace tandem::comm::mpi {
namespace {

// A wait polls without pause for this time and for what its bytes may take; then it pauses between polls.
constexpr std::chrono::nanoseconds kPatience = std::chrono::microseconds(100);
constexpr int64_t kPatiencePerByte = 4;  // nanoseconds
// How long ranks that are asked where they are have to answer. One that is in no collective cannot.
constexpr std::chrono::milliseconds kAnswerTime{1000};
// How many groups of all ranks there have been: the same on every rank, and the number of the group.
std::atomic<uint64_t> worlds{0};

}  // namespace

/// What ends the wait of one call. After the deadline the others are first asked where they are, so that the error can say it.
class MpiBackend::Wait final : public Limit {
 public:
  Wait(MpiBackend& group, const Context& context) : group_(group), context_(context) {}

  std::string over() override {
    if (std::string why = group_.dead(); !why.empty()) return text(why);
    if (context_.aborted && context_.aborted->load()) return text("the group was aborted");
    if (const int rank = left(); rank >= 0) {
      tell_launcher_missing(group_.ranks_[static_cast<size_t>(rank)]);
      return give_up(tandem::str(group_.describe(rank), " has left the group"));
    }
    if (context_.deadline == Clock::time_point::max()) return {};
    const auto now = Clock::now();
    if (asked_) return now < *asked_ + kAnswerTime ? std::string() : give_up(where_all_are());
    if (now < context_.deadline) return {};
    asked_ = now;
    group_.engine_.tell(group_.ranks_, group_.make_notice(Notice::Kind::WhereAreYou, ""));
    return {};
  }

 private:
  std::string text(const std::string& why) const { return tandem::str("[", comm::str(context_.call), "] ", why); }

  std::string give_up(const std::string& why) {
    group_.die(text(why), true);
    return text(why);
  }

  /// A member that left before this call; -1 where none did. What it sent before may be on its way for a while.
  int left() {
    const std::lock_guard lock(group_.mutex_);
    const bool pair = point_to_point(context_.call.kind);
    for (const auto& [rank, member] : group_.left_)
      if (pair ? rank == context_.call.root && Clock::now() > member.when + kAnswerTime : member.number < context_.call.number) return rank;
    return -1;
  }

  std::string where_all_are() {
    const std::lock_guard lock(group_.mutex_);
    std::string out = "the time limit has passed";
    for (int rank = 0; rank < group_.size(); ++rank) {
      if (rank == group_.rank_) continue;
      const auto answer = group_.answers_.find(rank);
      out += tandem::str("; ", group_.describe(rank),
                         answer == group_.answers_.end() ? " does not answer: it waits in no collective" : " is " + answer->second);
    }
    return out;
  }

  MpiBackend& group_;
  const Context& context_;
  std::optional<Clock::time_point> asked_;
};

MpiBackend::MpiBackend(const Start& start) : MpiBackend(Engine::get(), ++worlds, {}, 0) {
  for (int rank = 0; rank < engine_.size(); ++rank) ranks_.push_back(rank);
  rank_ = engine_.rank();
  if (start.size != size() || start.rank != rank_)
    fail("[init_process_group] this is rank ", start.rank, " of ", start.size, ", but MPI started it as rank ", rank_, " of ", size(),
         ": leave rank and world_size to MPI");
  Call call;
  const Context context{.call = call, .device = cpu(), .deadline = Clock::now() + start.timeout};
  Wait limit(*this, context);
  // Once all are there, the calls that make communicators, which cannot be ended, find their partners at once.
  engine_.run([&](std::vector<MPI_Request>& requests) { return MPI_Ibarrier(engine_.world(), requests.data()); }, limit, kPatience);
  engine_.run(
      [&](std::vector<MPI_Request>&) {
        const int code = MPI_Comm_dup(engine_.world(), &comm_);
        return code == MPI_SUCCESS ? MPI_Comm_dup(engine_.world(), &pairs_) : code;
      },
      limit, kPatience);
}

MpiBackend::MpiBackend(Engine& engine, uint64_t id, std::vector<int> ranks, int rank)
    : engine_(engine),
      id_(id),
      ranks_(std::move(ranks)),
      rank_(rank),
      compares_(environment("TANDEM_DISTRIBUTED_DEBUG") == "detail"),
      recorder_(recorder_bytes()) {
  engine_.add(id_, *this);
}

MpiBackend::~MpiBackend() { engine_.remove(id_); }

bool MpiBackend::takes(Device device) const { return device.is_cpu() || runtime::devices_are_virtual(); }

std::string MpiBackend::describe(int rank) const {
  const std::string& name = engine_.name_of(ranks_[static_cast<size_t>(rank)]);  // "rank 5 (host node2, process 4711)"
  return tandem::str("rank ", rank, name.substr(name.find(" (")));
}

// --- how a wait ends ------------------------------------------------------------------------------------------------------

std::string MpiBackend::dead() {
  const std::lock_guard lock(mutex_);
  return dead_;
}

Notice MpiBackend::make_notice(Notice::Kind kind, const std::string& text) {
  Notice notice;
  notice.group = id_;
  notice.kind = kind;
  notice.from = engine_.rank();
  std::copy_n(text.begin(), std::min(text.size(), sizeof notice.text - 1), notice.text);
  const std::lock_guard lock(mutex_);
  notice.number = last_number_;
  return notice;
}

void MpiBackend::die(const std::string& reason, bool tell_others) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!dead_.empty()) return;
    dead_ = reason;
  }
  engine_.give_up();
  if (tell_others) engine_.tell(ranks_, make_notice(Notice::Kind::Aborted, tandem::str(describe(rank_), ": ", reason)));
}

void MpiBackend::abort(const std::string& reason) noexcept { die(reason, true); }

void MpiBackend::leave() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!dead_.empty() || std::exchange(has_left_, true)) return;
  }
  engine_.tell(ranks_, make_notice(Notice::Kind::Left, ""));
  engine_.flush();
}

bool MpiBackend::notice(const Notice& notice, Notice& answer) {
  const auto member = std::find(ranks_.begin(), ranks_.end(), notice.from);
  if (member == ranks_.end()) return false;
  const auto from = static_cast<int>(member - ranks_.begin());
  switch (notice.kind) {
    case Notice::Kind::WhereAreYou: answer = make_notice(Notice::Kind::IAmHere, last_seen(recorder_.data())); return true;
    case Notice::Kind::Aborted: {
      const std::lock_guard lock(mutex_);
      if (dead_.empty()) dead_ = notice.text;
      break;
    }
    case Notice::Kind::Left: {
      const std::lock_guard lock(mutex_);
      left_[from] = {notice.number, Clock::now()};
      break;
    }
    case Notice::Kind::IAmHere: {
      const std::lock_guard lock(mutex_);
      answers_[from] = notice.text;
      break;
    }
  }
  return false;
}

void MpiBackend::begin(const Context& context) {
  if (!compares_) return;
  struct Said {
    uint64_t number = 0;
    std::array<char, 500> call{};   // with its line
    std::array<char, 300> alike{};  // without
  };
  Said own;
  own.number = context.call.number;
  Call call = context.call;
  const auto put = [](auto& to, const std::string& text) { std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin()); };
  put(own.call, comm::str(call));
  call.site = Site::none();
  put(own.alike, comm::str(call));
  std::vector<Said> all(ranks_.size());
  operate(context, 0, [&](std::vector<MPI_Request>& requests) {
    return MPI_Iallgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm_, requests.data());
  });
  for (int rank = 1; rank < size(); ++rank) {
    const Said &first = all[0], &other = all[static_cast<size_t>(rank)];
    if (first.number == other.number && first.alike == other.alike) continue;
    const std::string why = tandem::str("ranks differ: ", describe(0), " called ", first.call.data(), ", ", describe(rank), " called ",
                                        other.call.data(), "; every rank of a group calls the same collectives in the same order");
    die(why, false);  // they find the same
    fail("[", comm::name(context.call.kind), "] ", why);
  }
}

void MpiBackend::check_usable(const Context& context) {
  if (context.spoiled) {
    die(*context.spoiled, true);
    fail(*context.spoiled);
  }
  const std::lock_guard lock(mutex_);
  if (!dead_.empty()) fail("[", comm::str(context.call), "] ", dead_);
  if (!point_to_point(context.call.kind)) last_number_ = context.call.number;
}

void MpiBackend::operate(const Context& context, int64_t bytes, const Post& post) {
  check_usable(context);
  Wait limit(*this, context);
  engine_.run(post, limit, kPatience + std::chrono::nanoseconds(bytes * kPatiencePerByte));
}

// --- messages -------------------------------------------------------------------------------------------------------------

int MpiBackend::post_message(const Call& call, std::vector<MPI_Request>& requests) const {
  const ManyType many(call.count(), call.dtype);
  if (call.kind == Collective::Send) return MPI_Isend(call.in, many.count(), many.type(), call.root, call.tag, pairs_, requests.data());
  return MPI_Irecv(call.out, many.count(), many.type(), call.root, call.tag, pairs_, requests.data());
}

void MpiBackend::run_message(const Context& context) {
  const Call& call = context.call;
  operate(context, call.count() * static_cast<int64_t>(size_of(call.dtype)),
          [&](std::vector<MPI_Request>& requests) { return post_message(call, requests); });
}

/// A message that was begun.
class MpiBackend::Message final : public Transfer {
 public:
  Message(MpiBackend& group, const Context& context, const Post& post)
      : engine_(group.engine_), limit_(group, context), operation_(engine_.start(post)) {}
  bool advance(bool look) override { return engine_.advance(operation_, look ? &limit_ : nullptr); }

 private:
  Engine& engine_;
  Wait limit_;
  Operation operation_;
};

std::unique_ptr<Transfer> MpiBackend::begin_message(const Context& context) {
  check_usable(context);
  return std::make_unique<Message>(*this, context,
                                   [&](std::vector<MPI_Request>& requests) { return post_message(context.call, requests); });
}

std::unique_ptr<Backend> MpiBackend::sub_group(const Context& context, std::span<const int> ranks) {
  uint64_t state = id_ + ++sub_groups_;
  const uint64_t id = tandem::detail::splitmix64(state);  // the same on every rank
  run(context);  // all are there: the call below, which cannot be ended, finds its partners at once
  const auto own = std::find(ranks.begin(), ranks.end(), rank_);
  if (own == ranks.end()) return nullptr;
  std::vector<int> members;
  for (const int rank : ranks) members.push_back(ranks_[static_cast<size_t>(rank)]);
  std::unique_ptr<MpiBackend> made(new MpiBackend(engine_, id, std::move(members), static_cast<int>(own - ranks.begin())));
  operate(context, 0, [&](std::vector<MPI_Request>&) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    // The tag keeps groups apart that are made at the same time; every MPI takes tags up to 32767.
    int code = MPI_Comm_group(comm_, &all);
    if (code == MPI_SUCCESS) code = MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
    if (code == MPI_SUCCESS) code = MPI_Comm_create_group(comm_, some, static_cast<int>(sub_groups_ % 30000), &made->comm_);
    if (code == MPI_SUCCESS) code = MPI_Comm_dup(made->comm_, &made->pairs_);
    if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
    if (some != MPI_GROUP_NULL) MPI_Group_free(&some);
    return code;
  });
  return made;
}

}  // namespace tandem::comm::mpi
