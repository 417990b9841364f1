// The algorithms. Short messages take one round: everybody reads everybody's announcement. Of longer ones every rank reduces a share, which
// goes to all others, so that each byte travels as often as in a ring, without a ring's chain of waits.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "comm/local/backend.h"
#include "comm/local/reduce.h"
#include "comm/local/transport.h"

namespace tandem::comm {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kStep = size_t{16} << 10;

const std::byte* bytes_at(const void* address, size_t offset) { return static_cast<const std::byte*>(address) + offset; }
std::byte* bytes_at(void* address, size_t offset) { return static_cast<std::byte*>(address) + offset; }

/// Consecutive bytes of what a rank shows.
struct Block {
  size_t offset = 0, bytes = 0;
};
/// Block `block` of what `peer` shows is to come to `to`.
struct Want {
  int peer;
  int block;
  void* to;
};

// Brings every wanted block. What ranks show is cut into `blocks` blocks, of which a window holds a part each. Every rank of the group is
// here, with the same blocks.
void pull(Transport& transport, const void* in, int blocks, const std::function<Block(int, int)>& block_of, std::span<const Want> wants) {
  const int me = transport.rank();
  for (const Want& want : wants) {
    const Block block = block_of(want.peer, want.block);
    if (want.peer == me) {
      if (block.bytes && want.to != bytes_at(in, block.offset)) transport.get(want.to, me, bytes_at(in, block.offset), block.bytes);
    } else if (transport.is_inline(want.peer) || transport.direct()) {
      transport.get(want.to, want.peer, transport.shown(want.peer) + block.offset, block.bytes);
    }
  }
  if (transport.direct()) return transport.finish();
  const size_t part = kPiece / static_cast<size_t>(blocks) / kLine * kLine;
  size_t windows = 0;
  for (int rank = 0; rank < transport.size(); ++rank)
    for (int b = 0; b < blocks && !transport.is_inline(rank); ++b) windows = std::max(windows, (block_of(rank, b).bytes + part - 1) / part);
  for (size_t w = 0; w < windows; ++w) {
    const int half = static_cast<int>(w & 1);
    const auto in_window = [&](Block block) { return block.bytes > w * part ? std::min(part, block.bytes - w * part) : size_t{0}; };
    for (int b = 0; b < blocks && !transport.is_inline(me); ++b) {
      const Block block = block_of(me, b);
      if (const size_t bytes = in_window(block))
        transport.put(half, static_cast<size_t>(b) * part, bytes_at(in, block.offset + w * part), bytes);
    }
    transport.signal();
    transport.wait();
    for (const Want& want : wants) {
      if (want.peer == me || transport.is_inline(want.peer)) continue;
      if (const size_t bytes = in_window(block_of(want.peer, want.block)))
        transport.get(bytes_at(want.to, w * part), want.peer, transport.piece(want.peer, half) + static_cast<size_t>(want.block) * part,
                      bytes);
    }
  }
  transport.finish();
}

/// A reduction's elements.
struct Elements {
  DType dtype;
  ReduceOp op;
  [[nodiscard]] size_t size() const { return size_of(dtype); }
};

// out = in[0] op in[1] …, where shown(rank) is where a rank shows its elements.
void reduce_shown(Transport& transport, void* out, const void* in, size_t bytes, Elements e,
                  const std::function<const std::byte*(int)>& shown) {
  std::array<const void*, 64> few;
  std::vector<const void*> many;
  const auto n = static_cast<size_t>(transport.size());
  const void** inputs = few.data();
  if (n > few.size()) {
    many.resize(n);
    inputs = many.data();
  }
  for (size_t done = 0; done < bytes || done == 0; done += kPiece) {
    const size_t piece = std::min(kPiece, bytes - done);
    // From the next rank on, so that not everybody asks the same one first.
    for (size_t k = 0; k < n; ++k) {
      const size_t peer = (static_cast<size_t>(transport.rank()) + k) % n;
      const int rank = static_cast<int>(peer);
      inputs[peer] = rank == transport.rank() ? bytes_at(in, done) : transport.seen(rank, shown(rank) + done, piece, peer);
    }
    reduce_elements(bytes_at(out, done), inputs, static_cast<int>(n), static_cast<int64_t>(piece / e.size()), e.dtype, e.op);
  }
}

// Reduces block `mine` of what all ranks show into `out`; -1: none. All show `blocks` blocks of `block_bytes`.
void pull_reduced(Transport& transport, void* out, const void* in, int blocks, size_t block_bytes, int mine, Elements e) {
  const size_t offset = mine < 0 ? 0 : static_cast<size_t>(mine) * block_bytes;
  if (transport.is_inline(transport.rank()) || transport.direct()) {
    if (mine >= 0)
      reduce_shown(transport, out, bytes_at(in, offset), block_bytes, e, [&](int rank) { return transport.shown(rank) + offset; });
    return transport.finish();
  }
  const size_t part = kPiece / static_cast<size_t>(blocks) / kLine * kLine;
  for (size_t begin = 0, w = 0; begin < block_bytes; begin += part, ++w) {
    const int half = static_cast<int>(w & 1);
    const size_t bytes = std::min(part, block_bytes - begin);
    for (int b = 0; b < blocks; ++b)
      if (b != mine) transport.put(half, static_cast<size_t>(b) * part, bytes_at(in, static_cast<size_t>(b) * block_bytes + begin), bytes);
    transport.signal();
    transport.wait();
    if (mine < 0) continue;
    reduce_shown(transport, bytes_at(out, begin), bytes_at(in, offset + begin), bytes, e,
                 [&](int rank) { return transport.piece(rank, half) + static_cast<size_t>(mine) * part; });
  }
  transport.finish();
}

/// Bytes cut into shares of whole cache lines, of which the last ones may be shorter or empty.
struct Shares {
  Shares(size_t bytes, int count)
      : bytes(bytes), share(((bytes + static_cast<size_t>(count) - 1) / static_cast<size_t>(count) + kLine - 1) / kLine * kLine) {}
  const size_t bytes, share;
  [[nodiscard]] size_t begin_of(int i) const { return std::min(bytes, static_cast<size_t>(i) * share); }
  [[nodiscard]] size_t bytes_of(int i) const { return begin_of(i + 1) - begin_of(i); }
};

// Of elements too many for one round: each rank reduces its share of them and shows the result.
void reduce_by_shares(Transport& transport, std::byte* data, size_t bytes, Elements e) {
  const int n = transport.size(), me = transport.rank();
  const Shares shares(bytes, n);
  const auto begin_of = [&](int rank) { return shares.begin_of(rank); };
  const auto bytes_of = [&](int rank) { return shares.bytes_of(rank); };
  if (transport.direct()) {
    // A step's result goes to everybody while it is in the first cache.
    for (size_t done = 0; done < bytes_of(me); done += kStep) {
      const size_t begin = begin_of(me) + done, step = std::min(kStep, bytes_of(me) - done);
      reduce_shown(transport, data + begin, data + begin, step, e, [&](int rank) { return transport.shown(rank) + begin; });
      for (int k = 1; k < n; ++k) transport.give((me + k) % n, begin, data + begin, step);
    }
    return transport.finish();
  }
  const size_t part = kPiece / static_cast<size_t>(n) / kLine * kLine;
  const size_t windows = (shares.share + part - 1) / part;
  const auto in_window = [&](int rank, size_t w) {
    return bytes_of(rank) > w * part ? std::min(part, bytes_of(rank) - w * part) : size_t{0};
  };
  const auto show = [&](size_t w) {
    for (int b = 0; b < n; ++b)
      if (b != me) transport.put(static_cast<int>(w & 1), static_cast<size_t>(b) * part, data + begin_of(b) + w * part, in_window(b, w));
  };
  show(0);
  for (size_t w = 0; w < windows; ++w) {
    const int half = static_cast<int>(w & 1);
    transport.signal();
    transport.wait();
    if (const size_t mine = in_window(me, w)) {
      std::byte* const own = data + begin_of(me) + w * part;
      reduce_shown(transport, own, own, mine, e, [&](int rank) { return transport.piece(rank, half) + static_cast<size_t>(me) * part; });
      transport.put(half, static_cast<size_t>(me) * part, own, mine);
    }
    transport.signal();
    if (w + 1 < windows) show(w + 1);  // while the others still reduce; they have all read what was in that half before
    transport.wait();
    for (int k = 1; k < n; ++k) {
      const int peer = (me + k) % n;
      transport.get(data + begin_of(peer) + w * part, peer, transport.piece(peer, half) + static_cast<size_t>(peer) * part,
                    in_window(peer, w));
    }
  }
  transport.finish();
}

// Each of the others gets a share from the root and the rest from each other, so that the root's link carries the bytes once.
void broadcast_by_shares(Transport& transport, std::byte* data, size_t bytes, int root) {
  const int n = transport.size(), me = transport.rank();
  const Shares shares(bytes, n - 1);
  const auto get_share = [&](int owner, int from) {
    const int share = owner < root ? owner : owner - 1;
    const size_t begin = shares.begin_of(share);
    transport.get(data + begin, from, transport.shown(from) + begin, shares.bytes_of(share));
  };
  if (me != root) get_share(me, root);
  transport.signal();
  transport.wait();
  for (int k = 1; k < n && me != root; ++k)
    if (const int peer = (me + k) % n; peer != root) get_share(peer, peer);
  transport.finish();
}

size_t bytes_of(int64_t count, DType dtype) { return static_cast<size_t>(count) * size_of(dtype); }

// --- The collectives

void all_reduce(Transport& transport, const Call& call) {
  const size_t bytes = bytes_of(call.count(), call.dtype);
  transport.announce(call.in, bytes);
  if (transport.is_inline(transport.rank())) pull_reduced(transport, call.out, call.in, 1, bytes, 0, {call.dtype, call.op});
  else reduce_by_shares(transport, static_cast<std::byte*>(call.out), bytes, {call.dtype, call.op});
}

void reduce(Transport& transport, const Call& call) {
  const size_t bytes = bytes_of(call.count(), call.dtype);
  transport.announce(call.in, bytes);
  pull_reduced(transport, call.out, call.in, 1, bytes, transport.rank() == call.root ? 0 : -1, {call.dtype, call.op});
}

void reduce_scatter(Transport& transport, const Call& call) {
  const size_t bytes = bytes_of(call.count(), call.dtype);
  transport.announce(call.in, bytes * static_cast<size_t>(transport.size()));
  pull_reduced(transport, call.out, call.in, transport.size(), bytes, transport.rank(), {call.dtype, call.op});
}

void broadcast(Transport& transport, const Call& call) {
  const size_t bytes = bytes_of(call.count(), call.dtype);
  const bool here = transport.rank() == call.root;
  const bool spreads = transport.segment().one_process() && transport.size() > 2 && bytes > kInline;
  void* const data = here ? const_cast<void*>(call.in) : call.out;
  transport.announce(data, here || spreads ? bytes : 0);
  if (spreads) return broadcast_by_shares(transport, static_cast<std::byte*>(data), bytes, call.root);
  const Want want{call.root, 0, data};
  pull(transport, data, 1, [&](int rank, int) { return Block{0, rank == call.root ? bytes : 0}; }, {&want, here ? size_t{0} : 1});
}

/// What every rank has, one after another in out, where `takes`. Ranks begin with themselves, so that they do not all read the same one.
void collect(Transport& transport, const Call& call, bool takes) {
  const int n = transport.size(), me = transport.rank();
  const size_t bytes = bytes_of(call.count(), call.dtype);
  transport.announce(call.in, bytes);
  std::vector<Want> wants;
  for (int k = 0; takes && k < n; ++k) {
    const int peer = (me + k) % n;
    wants.push_back({peer, 0, bytes_at(call.out, static_cast<size_t>(peer) * bytes)});
  }
  pull(
      transport, call.in, 1,
      [&](int, int) {
        return Block{0, bytes};
      },
      wants);
}

void all_gather(Transport& transport, const Call& call) { collect(transport, call, true); }
void gather(Transport& transport, const Call& call) { collect(transport, call, transport.rank() == call.root); }

void scatter(Transport& transport, const Call& call) {
  const int n = transport.size(), me = transport.rank();
  const size_t bytes = bytes_of(call.count(), call.dtype);
  transport.announce(call.in, me == call.root ? bytes * static_cast<size_t>(n) : 0);
  const Want want{call.root, me, call.out};
  pull(transport, call.in, n,
       [&](int rank, int b) {
         return Block{static_cast<size_t>(b) * bytes, rank == call.root ? bytes : 0};
       },
       {&want, 1});
}

void all_to_all(Transport& transport, const Call& call) {
  const int n = transport.size(), me = transport.rank();
  std::vector<int64_t> counts = call.in_counts;
  counts.insert(counts.end(), call.out_counts.begin(), call.out_counts.end());
  int64_t total = 0;
  for (const int64_t count : call.in_counts) total += count;
  transport.announce(call.in, bytes_of(total, call.dtype), std::as_bytes(std::span(counts)));
  const auto count_of = [&](int rank, int i) {
    int64_t count = 0;
    std::memcpy(&count, transport.head_of(rank) + static_cast<size_t>(i) * sizeof count, sizeof count);
    return count;
  };
  const Segment& segment = transport.segment();
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      const int64_t sent = count_of(from, to), taken = count_of(to, n + from);
      if (sent != taken)
        segment.fail_all(transport.context(), tandem::str(segment.describe(from), " gives ", sent, " elements to ", segment.describe(to),
                                                          ", which takes ", taken));
    }
  }
  const auto block_of = [&](int rank, int b) {
    int64_t before = 0;
    for (int i = 0; i < b; ++i) before += count_of(rank, i);
    return Block{bytes_of(before, call.dtype), bytes_of(count_of(rank, b), call.dtype)};
  };
  std::vector<Want> wants;
  int64_t before = 0;
  for (int peer = 0; peer < n; ++peer) {
    wants.push_back({peer, me, bytes_at(call.out, bytes_of(before, call.dtype))});
    before += call.out_counts[static_cast<size_t>(peer)];
  }
  std::rotate(wants.begin(), wants.begin() + me, wants.end());
  pull(transport, call.in, n, block_of, wants);
}

void barrier(Transport& transport) {
  transport.announce(nullptr, 0);
  transport.finish();
}

}  // namespace

void LocalBackend::run(const Context& context) {
  const Call& call = context.call;
  if (point_to_point(call.kind)) return run_message(context);
  Transport transport(segment_, rank_, signals_, context);
  switch (call.kind) {
    case Collective::AllReduce: return all_reduce(transport, call);
    case Collective::Broadcast: return broadcast(transport, call);
    case Collective::Reduce: return reduce(transport, call);
    case Collective::AllGather: return all_gather(transport, call);
    case Collective::ReduceScatter: return reduce_scatter(transport, call);
    case Collective::AllToAll: return all_to_all(transport, call);
    case Collective::Gather: return gather(transport, call);
    case Collective::Scatter: return scatter(transport, call);
    case Collective::Barrier:
    case Collective::NewGroup: return barrier(transport);
    case Collective::Send:
    case Collective::Recv: break;  // see run_message
  }
}

}  // namespace tandem::comm
