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
constexpr int64_t kIdBytes = sizeof(ncclUniqueId);

/// A call of the host's back end, which moves bytes.
Call bytes_call(Collective kind, int other, int64_t bytes, Site site) {
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

ncclUniqueId new_id() {
  ncclUniqueId id;
  check(functions().ncclGetUniqueId(&id), "ncclGetUniqueId");
  return id;
}

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

}  // namespace

ncclUniqueId Meeting::share_id(const Limit& limit, Site site) const {
  if (own > 0) {
    ncclUniqueId id;
    const Call call = bytes_call(Collective::Recv, ranks[0], kIdBytes, site);
    host->recv(context_of(call, limit), &id, kIdBytes, kUInt8, ranks[0], kTag);
    return id;
  }
  const ncclUniqueId id = new_id();
  for (size_t i = 1; i < ranks.size(); ++i) {
    const Call call = bytes_call(Collective::Send, ranks[i], kIdBytes, site);
    host->send(context_of(call, limit), &id, kIdBytes, kUInt8, ranks[i], kTag);
  }
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
  const int gpu = runtime::cuda_gpu::gpu_behind(device.index());
  put(own.gpu, runtime::require_driver().properties(gpu).uuid);
  std::vector<Greeting> all(static_cast<size_t>(host.size()));
  const Call call = bytes_call(Collective::AllGather, -1, sizeof(Greeting), site);
  host.all_gather(context_of(call, limit), all.data(), &own, sizeof(Greeting), kUInt8);
  for (size_t i = 0; i < all.size(); ++i) {
    const Greeting& each = all[i];
    const std::string who = host.describe(static_cast<int>(i));
    if (const std::string text = text_of(each.why); !text.empty()) fail(who, ": ", text);
    if (each.version / 100 != all[0].version / 100)
      fail(who, " has NCCL ", each.version, ", but ", host.describe(0), " has ", all[0].version, ": all ranks need the same");
    for (size_t j = 0; j < i; ++j)
      if (each.gpu == all[j].gpu)
        fail(who, " and ", host.describe(static_cast<int>(j)), " use one GPU (", text_of(each.gpu),
             "), which NCCL does not do: give each rank a GPU of its own");
  }
}

}  // namespace tandem::comm::nccl
