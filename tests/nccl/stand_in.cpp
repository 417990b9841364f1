#include "nccl/stand_in.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <list>
#include <memory>

#include "base/half.h"

using tandem::testing::NcclCall;
using tandem::testing::NcclStandIn;

namespace {

constexpr unsigned kMagic = 0xcafebeef;  // of a configuration that was begun with NCCL_CONFIG_INITIALIZER

NcclStandIn& state() {
  static auto* const one = new NcclStandIn;
  return *one;
}
std::condition_variable& changed() {
  static auto* const one = new std::condition_variable;
  return *one;
}

size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    default: return 8;
  }
}

/// One rank's part of a collective, or a message.
struct Part {
  std::string kind;
  const void* in = nullptr;
  void* out = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int root = -1;
  cudaStream_t stream = nullptr;
};
struct Collective {
  std::map<int, Part> parts;
  bool done = false;
};

/// The ranks of one communicator.
struct Clique {
  int size = 0;
  std::map<int, ncclComm_t> members;
  std::map<int, Collective> collectives;                                 // by number
  std::map<std::pair<int, int>, std::list<std::vector<char>>> messages;  // by sender and receiver
  std::map<std::pair<int, int>, std::shared_ptr<Clique>> parts;          // of splits: by number and color
};

}  // namespace

struct ncclComm {
  std::shared_ptr<Clique> clique;
  int rank = 0, device = 0, collectives = 0, splits = 0;
  bool aborted = false, finalized = false;
  int unsettled = 0;  // how often it says yet that the last call is in progress
  bool in_group = false;
};

namespace {

std::map<std::string, std::shared_ptr<Clique>>& cliques() {
  static auto* const all = new std::map<std::string, std::shared_ptr<Clique>>;
  return *all;
}

struct Held {
  ncclComm_t comm;
  Part part;
};
thread_local int depth = 0;
thread_local std::vector<Held> held;
thread_local std::vector<ncclComm_t> begun;  // in this group

void misuse(const std::string& text) { state().misuses.push_back(text); }

/// Whether this call is to fail. Counts it. With the mutex held.
ncclResult_t counted(const char* function) {
  ++state().functions[function];
  const auto found = state().fail.find(function);
  if (found == state().fail.end()) return ncclSuccess;
  const ncclResult_t result = found->second;
  state().fail.erase(found);
  return result;
}

/// It has something under way from now on.
ncclResult_t in_progress(ncclComm_t comm) {
  if (comm->unsettled > 0 && !comm->in_group) misuse("a call while another one of the communicator was in progress");
  comm->unsettled = 2;
  if (depth > 0) {
    comm->in_group = true;
    begun.push_back(comm);
  }
  return ncclInProgress;
}

template <class T>
T reduced(ncclRedOp_t op, T a, T b) {
  switch (op) {
    case ncclProd: return static_cast<T>(a * b);
    case ncclMax: return std::max(a, b);
    case ncclMin: return std::min(a, b);
    default: return static_cast<T>(a + b);
  }
}

/// Element i of all parts, in the order of the ranks. T stores, A adds up.
template <class T, class A>
void reduce_elements(const std::map<int, Part>& parts, size_t from, size_t count, ncclRedOp_t op, void* out) {
  std::vector<T> results(count);
  for (size_t i = 0; i < count; ++i) {
    A total{};
    bool first = true;
    for (const auto& [rank, part] : parts) {
      const auto value = static_cast<A>(static_cast<const T*>(part.in)[from + i]);
      total = first ? value : reduced<A>(op, total, value);
      first = false;
    }
    if (op == ncclAvg) total = total / static_cast<A>(parts.size());
    results[i] = static_cast<T>(total);
  }
  std::memcpy(out, results.data(), count * sizeof(T));
}

/// `count` reduced elements from `from` on.
std::vector<char> reduce(const std::map<int, Part>& parts, size_t from, size_t count) {
  const Part& any = parts.begin()->second;
  std::vector<char> out(count * bytes_of(any.type));
  switch (any.type) {
    case ncclInt8: reduce_elements<int8_t, int32_t>(parts, from, count, any.op, out.data()); break;
    case ncclUint8: reduce_elements<uint8_t, uint32_t>(parts, from, count, any.op, out.data()); break;
    case ncclInt32: reduce_elements<int32_t, int64_t>(parts, from, count, any.op, out.data()); break;
    case ncclInt64: reduce_elements<int64_t, int64_t>(parts, from, count, any.op, out.data()); break;
    case ncclFloat16: reduce_elements<tandem::Half, float>(parts, from, count, any.op, out.data()); break;
    case ncclBfloat16: reduce_elements<tandem::BFloat16, float>(parts, from, count, any.op, out.data()); break;
    case ncclFloat32: reduce_elements<float, float>(parts, from, count, any.op, out.data()); break;
    case ncclFloat64: reduce_elements<double, double>(parts, from, count, any.op, out.data()); break;
    default: misuse("a reduction of a type that tandem has not");
  }
  return out;
}

/// All ranks' parts are there.
void compute(const Clique& clique, Collective& all) {
  const Part& any = all.parts.begin()->second;
  for (const auto& [rank, part] : all.parts)
    if (part.kind != any.kind || part.count != any.count || part.type != any.type || part.op != any.op || part.root != any.root)
      misuse("rank " + std::to_string(rank) + " called " + part.kind + " where another called " + any.kind + ", or with other arguments");
  const size_t bytes = any.count * bytes_of(any.type);
  std::map<int, std::vector<char>> results;  // first, as parts may be in place
  for (const auto& [rank, part] : all.parts) {
    const auto r = static_cast<size_t>(rank);
    if (any.kind == "ncclAllReduce" || (any.kind == "ncclReduce" && rank == any.root)) results[rank] = reduce(all.parts, 0, any.count);
    if (any.kind == "ncclReduceScatter") results[rank] = reduce(all.parts, r * any.count, any.count);
    if (any.kind == "ncclBroadcast") {
      const auto* const from = static_cast<const char*>(all.parts.at(any.root).in);
      results[rank].assign(from, from + bytes);
    }
    if (any.kind == "ncclAllGather")
      for (int other = 0; other < clique.size; ++other) {
        const auto* const from = static_cast<const char*>(all.parts.at(other).in);
        results[rank].insert(results[rank].end(), from, from + bytes);
      }
  }
  for (const auto& [rank, result] : results) std::memcpy(all.parts.at(rank).out, result.data(), result.size());
  for (const auto& [rank, part] : all.parts) state().release(part.stream);
  all.done = true;
  changed().notify_all();
}

/// Begins what was called, and waits for the other ranks where a test has not asked for something else. With the mutex held by `lock`.
void begin(const std::vector<Held>& calls, std::unique_lock<std::mutex>& lock) {
  for (const Held& call : calls) {
    Clique& clique = *call.comm->clique;
    const Part& part = call.part;
    if (part.kind == "ncclSend") {
      const auto* const from = static_cast<const char*>(part.in);
      clique.messages[{call.comm->rank, part.root}].emplace_back(from, from + part.count * bytes_of(part.type));
      changed().notify_all();
    } else if (part.kind != "ncclRecv") {
      const int number = call.comm->collectives++;
      Collective& all = clique.collectives[number];
      all.parts[call.comm->rank] = part;
      state().hold(part.stream);
      if (static_cast<int>(all.parts.size()) == clique.size) compute(clique, all);
    }
  }
  for (const Held& call : calls) {
    Clique& clique = *call.comm->clique;
    if (call.part.kind == "ncclSend" || state().returns_at_once) continue;
    const auto aborted = [&] { return call.comm->aborted; };
    if (call.part.kind == "ncclRecv") {
      auto& box = clique.messages[{call.part.root, call.comm->rank}];
      changed().wait(lock, [&] { return aborted() || !box.empty(); });
      if (aborted()) continue;
      if (box.front().size() != call.part.count * bytes_of(call.part.type)) misuse("a message of another size than is received");
      else std::memcpy(call.part.out, box.front().data(), box.front().size());
      box.pop_front();
    } else {
      Collective& all = clique.collectives[call.comm->collectives - 1];
      changed().wait(lock, [&] { return aborted() || all.done; });
    }
  }
}

ncclResult_t enqueue(const char* function, ncclComm_t comm, Part part) {
  std::unique_lock lock(state().mutex);
  const ncclResult_t wished = counted(function);
  if (wished != ncclSuccess) return wished;
  if (!comm || comm->aborted) {
    misuse(std::string(function) + " of a communicator that is gone");
    return ncclInvalidArgument;
  }
  if (static_cast<int>(comm->clique->members.size()) < comm->clique->size) misuse(std::string(function) + " before all ranks had come");
  if (state().device_of(part.stream) != comm->device) misuse(std::string(function) + " on a stream of another device");
  part.kind = function;
  state().calls.push_back({function, part.count, part.type, part.op, comm->rank, part.root, part.stream});
  (void)in_progress(comm);
  if (depth > 0) held.push_back({comm, part});
  else begin({{comm, part}}, lock);
  return ncclInProgress;
}

}  // namespace

extern "C" {

NcclStandIn* nccl_stand_in() { return &state(); }

ncclResult_t ncclGetVersion(int* version) {
  *version = state().version;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) { return result == ncclRemoteError ? "remote process exited" : "a stand-in's error"; }
const char* ncclGetLastError(ncclComm_t) { return "as the test wished"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::lock_guard lock(state().mutex);
  static int last = 0;
  *id = {};
  std::strcpy(id->internal, ("id " + std::to_string(++last)).c_str());
  return counted("ncclGetUniqueId");
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* out, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  const std::lock_guard lock(state().mutex);
  const ncclResult_t wished = counted("ncclCommInitRankConfig");
  if (wished != ncclSuccess) return wished;
  if (config->magic != kMagic || config->blocking != 0) misuse("ncclCommInitRankConfig without a configuration that does not block");
  auto& clique = cliques()[id.internal];
  if (!clique) clique = std::make_shared<Clique>();
  clique->size = size;
  *out = new ncclComm{clique, rank, state().current_device()};
  if (!clique->members.emplace(rank, *out).second) misuse("two ranks have one number");
  for (const auto& [other, comm] : clique->members)
    if (other != rank && comm->device == (*out)->device) misuse("two ranks have one device");
  ++state().alive;
  return in_progress(*out);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* out, ncclConfig_t*) {
  const std::lock_guard lock(state().mutex);
  const ncclResult_t wished = counted("ncclCommSplit");
  if (wished != ncclSuccess) return wished;
  *out = nullptr;
  const int number = comm->splits++;
  if (color != NCCL_SPLIT_NOCOLOR) {
    // Who belongs to it is known when all have called; the tests' groups are told by their colors before, and keys are ranks.
    auto& part = comm->clique->parts[{number, color}];
    if (!part) part = std::make_shared<Clique>();
    *out = new ncclComm{part, key, comm->device};
    part->members.emplace(key, *out);
    ++state().alive;
    (void)in_progress(*out);
  }
  (void)in_progress(comm);
  auto& called = comm->clique->collectives[-1 - number];
  called.parts[comm->rank] = {};
  if (static_cast<int>(called.parts.size()) == comm->clique->size)
    for (auto& [place, part] : comm->clique->parts)
      if (place.first == number) part->size = static_cast<int>(part->members.size());
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
  const std::lock_guard lock(state().mutex);
  const ncclResult_t wished = counted("ncclCommGetAsyncError");
  const bool complete = comm->clique->size > 0 && static_cast<int>(comm->clique->members.size()) == comm->clique->size;
  *result = state().trouble;
  if (*result == ncclSuccess && (!complete || comm->unsettled > 0)) *result = ncclInProgress;
  if (complete && comm->unsettled > 0) --comm->unsettled;
  return wished;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const std::lock_guard lock(state().mutex);
  comm->finalized = true;
  (void)counted("ncclCommFinalize");
  return in_progress(comm);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const std::lock_guard lock(state().mutex);
  if (!comm->finalized || comm->unsettled > 0) misuse("ncclCommDestroy before it was finalized");
  --state().alive;
  (void)counted("ncclCommDestroy");
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const std::lock_guard lock(state().mutex);
  if (comm->aborted) misuse("a communicator was aborted twice");
  comm->aborted = true;
  --state().alive;
  ++state().aborted;
  for (auto& [number, all] : comm->clique->collectives)
    if (const auto own = all.parts.find(comm->rank); !all.done && own != all.parts.end() && own->second.stream)
      state().release(own->second.stream);
  changed().notify_all();
  return counted("ncclCommAbort");
}

ncclResult_t ncclGroupStart() {
  const std::lock_guard lock(state().mutex);
  ++depth;
  return counted("ncclGroupStart");
}

ncclResult_t ncclGroupEnd() {
  std::unique_lock lock(state().mutex);
  const ncclResult_t wished = counted("ncclGroupEnd");
  if (depth == 0) {
    misuse("ncclGroupEnd without a start");
    return ncclInvalidUsage;
  }
  if (--depth > 0) return wished;
  for (const ncclComm_t comm : begun) comm->in_group = false;
  begun.clear();
  const auto calls = std::move(held);
  held.clear();
  if (wished != ncclSuccess) return wished;
  begin(calls, lock);
  return calls.empty() ? ncclSuccess : ncclInProgress;
}

ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return enqueue("ncclAllReduce", comm, {"", in, out, count, type, op, -1, stream});
}
ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  return enqueue("ncclBroadcast", comm, {"", in, out, count, type, ncclSum, root, stream});
}
ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return enqueue("ncclReduce", comm, {"", in, out, count, type, op, root, stream});
}
ncclResult_t ncclAllGather(const void* in, void* out, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
  return enqueue("ncclAllGather", comm, {"", in, out, count, type, ncclSum, -1, stream});
}
ncclResult_t ncclReduceScatter(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  return enqueue("ncclReduceScatter", comm, {"", in, out, count, type, op, -1, stream});
}
ncclResult_t ncclSend(const void* in, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return enqueue("ncclSend", comm, {"", in, nullptr, count, type, ncclSum, peer, stream});
}
ncclResult_t ncclRecv(void* out, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return enqueue("ncclRecv", comm, {"", nullptr, out, count, type, ncclSum, peer, stream});
}

}  // extern "C"
