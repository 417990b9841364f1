#include "comm/cuda/meeting.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "comm/cuda/nccl.h"
#include "runtime/cuda/check.h"

namespace tandem::comm::nccl {
namespace {

constexpr int kTag = 32000;  // of the messages below

/// A message of `bytes` bytes.
Call message(Collective kind, int other, int64_t bytes, Site site) {
  Call call;
  call.kind = kind;
  call.root = other;
  call.tag = kTag;
  call.sizes = {bytes};
  call.site = site;
  return call;
}
Context context_of(const Call& call, const Limit& limit) {
  return {.call = call, .device = Device(), .deadline = limit.deadline, .aborted = limit.aborted};
}

// Messages alone: collectives of the host are numbered by its group.
template <class T>
void send(Backend& host, const T& what, int rank, const Limit& limit, Site site) {
  Call call = message(Collective::Send, rank, sizeof what, site);
  call.in = &what;
  host.run(context_of(call, limit));
}
template <class T>
T receive(Backend& host, int rank, const Limit& limit, Site site) {
  T what;
  Call call = message(Collective::Recv, rank, sizeof what, site);
  call.out = &what;
  host.run(context_of(call, limit));
  return what;
}

ncclUniqueId new_id() {
  ncclUniqueId id;
  check(functions().ncclGetUniqueId(&id), "ncclGetUniqueId");
  return id;
}

using Verdict = std::array<char, 640>;

/// What a rank tells the others of itself. Texts end with a zero.
struct Greeting {
  int version = 0;  // of NCCL; 0: it cannot be used
  std::array<char, 124> gpu{};
  std::array<char, 384> why{};
};

template <size_t kSize>
void put(std::array<char, kSize>& to, const std::string& text) {
  std::copy_n(text.data(), std::min(text.size(), kSize - 1), to.data());
}
template <size_t kSize>
std::string text_of(const std::array<char, kSize>& from) {
  return {from.data(), strnlen(from.data(), kSize)};
}

/// What is wrong with the ranks' greetings; empty where nothing is.
std::string trouble(const Backend& host, std::span<const Greeting> all) {
  for (size_t i = 0; i < all.size(); ++i) {
    const Greeting& each = all[i];
    const std::string who = host.describe(static_cast<int>(i));
    if (const std::string text = text_of(each.why); !text.empty()) return tandem::str(who, ": ", text);
    if (each.version / 100 != all[0].version / 100)
      return tandem::str(who, " has NCCL ", each.version, ", but ", host.describe(0), " has ", all[0].version, ": all ranks need the same");
    for (size_t j = 0; j < i; ++j)
      if (each.gpu == all[j].gpu)
        return tandem::str(who, " and ", host.describe(static_cast<int>(j)), " use one GPU (", text_of(each.gpu),
                           "), which NCCL does not do: give each rank a GPU of its own");
  }
  return "";
}

}  // namespace

ncclUniqueId Meeting::share_id(const Limit& limit, Site site) const {
  if (own > 0) return receive<ncclUniqueId>(*host, ranks[0], limit, site);
  const ncclUniqueId id = new_id();
  for (size_t i = 1; i < ranks.size(); ++i) send(*host, id, ranks[i], limit, site);
  return id;
}

ncclUniqueId Meeting::share_id_with(int member, const Limit& limit, Site site) const {
  const std::array<int, 2> both = {std::min(own, member), std::max(own, member)};
  return part(both).share_id(limit, site);
}

Meeting Meeting::part(std::span<const int> members) const {
  Meeting some{host, {}, -1};
  for (const int member : members) {
    if (member == own) some.own = static_cast<int>(some.ranks.size());
    some.ranks.push_back(ranks[static_cast<size_t>(member)]);
  }
  return some;
}

void check_all_can(Backend& host, Device device, const Limit& limit, Site site) {
  Greeting own;
  const std::string why = why_not();
  put(own.why, why);
  if (why.empty()) own.version = version();
  // Devices that one GPU is shown as have names of their own.
  put(own.gpu, runtime::require_driver().properties(runtime::cuda_gpu::gpu_behind(device.index())).uuid);
  Verdict verdict{};
  if (host.rank() > 0) {
    send(host, own, 0, limit, site);
    verdict = receive<Verdict>(host, 0, limit, site);
  } else {
    std::vector<Greeting> all = {own};
    for (int r = 1; r < host.size(); ++r) all.push_back(receive<Greeting>(host, r, limit, site));
    put(verdict, trouble(host, all));
    for (int r = 1; r < host.size(); ++r) send(host, verdict, r, limit, site);
  }
  if (const std::string text = text_of(verdict); !text.empty()) fail(text);
}

}  // namespace tandem::comm::nccl
