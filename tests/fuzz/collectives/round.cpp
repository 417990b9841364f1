#include "round.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tandem.h"

namespace td = tandem;
namespace dist = td::distributed;
using dist::ReduceOp;

namespace fuzz {
namespace {

using Random = std::mt19937_64;

int64_t below(Random& random, int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); }

/// A call that all members of a group make alike.
struct Call {
  enum Kind { AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll, Gather, Scatter, Ring, Barrier, Kinds } kind;
  ReduceOp op;
  td::DType dtype;
  int64_t count;  // of a rank's elements; a multiple of the ranks where it is to be cut
  int root;       // in the group
  int group;      // 0: everyone
  bool on_gpu, async_op, strided;
  int64_t symmetric;  // CPU tensors lie in memory that all reach: 0: none, 1: all, 2: those of odd ranks
};

int64_t random_count(Random& random) {
  constexpr int64_t kLimits[] = {3, 64, 5000, 9000, 100000, 400000};
  return below(random, kLimits[below(random, 6)]);
}

Call random_call(Random& random, int groups) {
  Call call;
  call.kind = static_cast<Call::Kind>(below(random, Call::Kinds));
  call.dtype = static_cast<td::DType>(below(random, td::kDTypes));
  constexpr ReduceOp kOps[] = {ReduceOp::SUM, ReduceOp::MIN, ReduceOp::MAX, ReduceOp::AVG};
  call.op = kOps[below(random, td::is_floating(call.dtype) ? 4 : 3)];
  call.count = random_count(random);
  call.root = static_cast<int>(below(random, 1 << 20));
  call.group = static_cast<int>(below(random, groups));
  call.on_gpu = below(random, 2) == 0;
  call.async_op = below(random, 3) == 0;
  call.strided = below(random, 5) == 0;
  call.symmetric = below(random, 3);
  return call;
}

/// What rank `rank` gives: whole numbers, so that every order of additions gives the same.
td::Tensor given(const Call& call, int rank) { return td::arange(call.count).remainder(5 + rank % 4).add(rank % 3).to(call.dtype); }

td::Tensor reduced(const std::vector<td::Tensor>& inputs, ReduceOp op) {
  const td::DType dtype = inputs[0].dtype();
  td::Tensor all = inputs[0].to(td::kFloat64);
  for (size_t i = 1; i < inputs.size(); ++i) {
    const td::Tensor next = inputs[i].to(td::kFloat64);
    all = op == ReduceOp::MIN ? td::minimum(all, next) : op == ReduceOp::MAX ? td::maximum(all, next) : all + next;
  }
  if (op == ReduceOp::AVG) all = all / static_cast<double>(inputs.size());
  return dtype == td::kBool ? all != 0. : all.to(td::is_half(dtype) ? td::kFloat32 : dtype).to(dtype);
}

void check(const Call& call, const char* what, const td::Tensor& got, const td::Tensor& wanted) {
  const td::Tensor here = got.cpu().contiguous(), expected = wanted.contiguous();
  if (here.sizes() == expected.sizes() && here.dtype() == expected.dtype() &&
      (here.numel() == 0 || std::memcmp(here.data_ptr(), expected.data_ptr(), here.nbytes()) == 0))
    return;
  throw std::logic_error(td::str("wrong values in ", what, " of ", call.count, ' ', call.dtype, call.on_gpu ? " on a GPU" : " on the CPU"));
}

class Player {
 public:
  Player(const Round& round, int rank)
      : round_(round), rank_(rank), random_(round.seed), delays_(round.seed * 31 + static_cast<uint64_t>(rank)) {}

  void play() {
    groups_.emplace_back();
    members_.emplace_back();
    for (int r = 0; r < round_.ranks; ++r) members_[0].push_back(r);
    const int groups = static_cast<int>(below(random_, 3));
    for (int g = 0; g < groups; ++g) {
      std::vector<int> ranks = members_[0];
      std::shuffle(ranks.begin(), ranks.end(), random_);
      ranks.resize(1 + static_cast<size_t>(below(random_, round_.ranks)));
      groups_.push_back(dist::new_group(ranks));
      members_.push_back(ranks);
    }
    for (int i = 0; i < round_.calls; ++i) {
      Call call = random_call(random_, static_cast<int>(groups_.size()));
      pause();
      // Ranks of an all_to_all may give different sizes, and it would be right.
      if (i == round_.at && round_.fault == Round::Fault::OtherSize && call.kind == Call::AllToAll) call.kind = Call::AllGather;
      if (i == round_.at && rank_ == round_.culprit && !misbehave(call)) return;
      make(call);
    }
  }

 private:
  void pause() {
    const int64_t sort = below(delays_, 20);
    if (sort < 12) return;
    std::this_thread::sleep_for(std::chrono::microseconds(sort < 19 ? below(delays_, 60) : below(delays_, 1500)));
  }

  // Whether the rank goes on with the call, as it is then.
  bool misbehave(Call& call) {
    switch (round_.fault) {
      case Round::Fault::Throws: throw td::Error("a rank fell over");
      // Messages are compared by their bytes alone, and a message instead of another call would only be waited for.
      case Round::Fault::CallsAnother:
        if (call.kind != Call::Ring) call.kind = call.kind == Call::Barrier ? Call::AllReduce : Call::Barrier;
        return true;
      case Round::Fault::OtherDtype:
        if (call.kind != Call::Ring) call.dtype = call.dtype == td::kInt16 ? td::kInt8 : td::kInt16;
        return true;
      case Round::Fault::OtherSize: call.count += 1 + below(delays_, 30); return true;
      case Round::Fault::Leaves: dist::destroy_process_group(); return false;
      case Round::Fault::Aborts: dist::ProcessGroup().abort("a rank pulled the plug"); return true;
      case Round::Fault::IsKilled: (void)raise(SIGKILL); return false;
      default: return true;
    }
  }

  void make(Call call) {
    const auto g = static_cast<size_t>(call.group);
    if (!groups_[g].is_member()) return;
    const std::vector<int>& members = members_[g];
    const int size = static_cast<int>(members.size());
    const auto mine = static_cast<size_t>(std::find(members.begin(), members.end(), rank_) - members.begin());
    const auto root = static_cast<size_t>(call.root % size);
    if (call.kind == Call::ReduceScatter) call.count = call.count / size * size;
    const dist::CollectiveOptions options{.group = groups_[g], .async_op = call.async_op}, blocking{.group = groups_[g]};
    const td::Device device = call.on_gpu ? td::gpu(rank_) : td::cpu();
    std::vector<td::Tensor> inputs;
    for (const int member : members) inputs.push_back(given(call, member));
    td::Tensor own = inputs[mine].to(device, {.copy = true});
    if (!call.on_gpu && (call.symmetric == 1 || (call.symmetric == 2 && rank_ % 2 == 1)))
      own = dist::symmetric_zeros(own.sizes(), own.dtype(), groups_[g]).copy_(own);
    if (call.strided) {
      const td::Tensor wide = td::zeros({call.count, 2}, {.dtype = call.dtype, .device = device});
      wide.select(1, 1).copy_(own);
      own = wide.select(1, 1);
    }
    switch (call.kind) {
      case Call::AllReduce: dist::all_reduce(own, call.op, options).wait(); return check(call, "all_reduce", own, reduced(inputs, call.op));
      case Call::Broadcast: dist::broadcast(own, members[root], options).wait(); return check(call, "broadcast", own, inputs[root]);
      case Call::Reduce:
        dist::reduce(own, members[root], call.op, options).wait();
        return check(call, "reduce", own, mine == root ? reduced(inputs, call.op) : inputs[mine]);
      case Call::AllGather: {
        const auto all = dist::all_gather(own, blocking);
        for (size_t i = 0; i < all.size(); ++i) check(call, "all_gather", all[i], inputs[i]);
        return;
      }
      case Call::ReduceScatter: {
        const int64_t part = call.count / size;
        return check(call, "reduce_scatter", dist::reduce_scatter(own, call.op, blocking),
                     reduced(inputs, call.op).narrow(0, static_cast<int64_t>(mine) * part, part));
      }
      case Call::AllToAll: {
        const auto part = [&](const td::Tensor& t, size_t to) { return t.narrow(0, 0, t.numel() * static_cast<int64_t>(to + 1) / size); };
        std::vector<td::Tensor> parts;
        for (size_t to = 0; to < members.size(); ++to) parts.push_back(part(own, to));
        const auto taken = dist::all_to_all(parts, blocking);
        for (size_t from = 0; from < taken.size(); ++from) check(call, "all_to_all", taken[from], part(inputs[from], mine));
        return;
      }
      case Call::Gather: {
        const auto all = dist::gather(own, members[root], blocking);
        for (size_t i = 0; i < all.size(); ++i) check(call, "gather", all[i], inputs[i]);
        return;
      }
      case Call::Scatter: {
        std::vector<td::Tensor> parts;
        if (mine == root)
          for (const td::Tensor& t : inputs) parts.push_back(t.to(device));
        const td::Tensor out = td::zeros_like(own);
        dist::scatter(out, parts, members[root], options).wait();
        return check(call, "scatter", out, inputs[mine]);
      }
      case Call::Ring: {
        if (size == 1) return;
        const size_t next = (mine + 1) % members.size(), before = (mine + members.size() - 1) % members.size();
        const int tag = call.root % 3 + (call.on_gpu ? 3 : 0);  // of one tag, one that a GPU sends may be overtaken by one of the CPU's
        const td::Tensor got = td::zeros_like(own);
        const auto sent = dist::isend(own, members[next], tag, blocking);
        dist::recv(got, members[before], tag, blocking);
        sent.wait();
        return check(call, "send and recv", got, inputs[before]);
      }
      default: dist::barrier(blocking); return;
    }
  }

  const Round& round_;
  const int rank_;
  Random random_, delays_;
  std::vector<dist::ProcessGroup> groups_;
  std::vector<std::vector<int>> members_;
};

}  // namespace

Round make_round(uint64_t seed, bool processes) {
  Random random(seed);
  Round round;
  round.seed = seed;
  round.processes = processes;
  round.ranks = processes ? 2 + static_cast<int>(below(random, 3)) : 1 + static_cast<int>(below(random, 6));
  round.calls = 1 + static_cast<int>(below(random, processes ? 40 : 20));
  round.at = static_cast<int>(below(random, round.calls));
  round.culprit = static_cast<int>(below(random, round.ranks));
  if (below(random, 4) == 0) round.fault = static_cast<Round::Fault>(1 + below(random, processes ? 7 : 6));
  return round;
}

std::string describe(const Round& round) {
  constexpr const char* kFaults[] = {
      "nothing", "throws", "calls another collective", "gives another dtype", "gives another size", "leaves", "aborts", "is killed"};
  std::string text = td::str(round.ranks, round.processes ? " processes, " : " threads, ", round.calls, " calls");
  if (round.fault != Round::Fault::Nothing)
    text += td::str(", rank ", round.culprit, ' ', kFaults[static_cast<int>(round.fault)], " at ", round.at);
  return text;
}

void play(const Round& round, int rank) { Player(round, rank).play(); }

}  // namespace fuzz
