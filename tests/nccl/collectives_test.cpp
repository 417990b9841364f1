// Every collective of the back end of real GPUs, on 1 to 4 ranks, against what it should give; and how NCCL was called for it.
#include "nccl/ranks.h"
#include "runtime/expect_error.h"

namespace tandem {
namespace {

using comm::Backend;
using comm::Call;
using comm::Collective;
using comm::Context;
using comm::ReduceOp;
using testing::call_of;
using testing::in_place;
using testing::Rank;
using testing::run_ranks;
using testing::stand_in;

constexpr DType kAll[] = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64};

class NcclCollectives : public testing::NcclTest, public ::testing::WithParamInterface<int> {
 protected:
  ~NcclCollectives() override {
    expect_orderly();
    const std::lock_guard lock(stand_in()->mutex);
    EXPECT_EQ(stand_in()->aborted, 0);
  }
};

/// What rank r has: small whole numbers, the same on every device and dtype; 0 and 1 for bool.
Tensor part_of(int r, DType dtype, int64_t count = 6) {
  const Tensor values = (arange(count) * (r + 1) + r).remainder(5);
  return dtype == kBool ? values > 2 : values.to(dtype);
}
std::vector<Tensor> all_parts(int size, DType dtype, int64_t count = 6) {
  std::vector<Tensor> parts;
  for (int r = 0; r < size; ++r) parts.push_back(part_of(r, dtype, count));
  return parts;
}
Tensor reduced(const std::vector<Tensor>& parts, ReduceOp op) {
  const DType dtype = parts[0].dtype();
  Tensor total = parts[0].to(kFloat64);
  for (size_t i = 1; i < parts.size(); ++i) {
    const Tensor next = parts[i].to(kFloat64);
    if (op == ReduceOp::PRODUCT) total = total * next;
    else if (op == ReduceOp::MIN) total = minimum(total, next);
    else if (op == ReduceOp::MAX) total = maximum(total, next);
    else total = total + next;
  }
  if (op == ReduceOp::AVG) total = total / static_cast<double>(parts.size());
  return total.to(dtype);
}

TEST_P(NcclCollectives, Reduce) {
  for (const DType dtype : kAll)
    for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX}) {
      if (op == ReduceOp::AVG && !is_floating(dtype)) continue;
      SCOPED_TRACE(std::string(name(dtype)) + " " + comm::name(op));
      run_ranks(GetParam(), [&](Rank& rank) {
        const int root = rank.size - 1;
        const Tensor all = reduced(all_parts(rank.size, dtype), op);
        const Tensor everywhere = rank.here(part_of(rank.rank, dtype)), at_root = everywhere.clone();
        rank.run(rank.nccl, in_place(Collective::AllReduce, everywhere, -1, op));
        EXPECT_TRUE(equal(everywhere.cpu(), all));
        rank.run(rank.nccl, in_place(Collective::Reduce, at_root, root, op));
        EXPECT_TRUE(equal(at_root.cpu(), rank.rank == root ? all : part_of(rank.rank, dtype)));
        const int64_t whole = 3 * rank.size;
        const Tensor in = rank.here(part_of(rank.rank, dtype, whole)), out = empty({3}, {.dtype = dtype, .device = rank.device()});
        rank.run(rank.nccl, call_of(Collective::ReduceScatter, out, in, out, -1, op));
        const Tensor own = reduced(all_parts(rank.size, dtype, whole), op).narrow(0, 3 * rank.rank, 3);
        EXPECT_TRUE(equal(out.cpu(), own));
        // In place.
        const Tensor place = in.narrow(0, 3 * rank.rank, 3);
        rank.run(rank.nccl, call_of(Collective::ReduceScatter, place, in, place, -1, op));
        EXPECT_TRUE(equal(place.cpu(), own));
      });
    }
}

TEST_P(NcclCollectives, Move) {
  for (const DType dtype : kAll) {
    SCOPED_TRACE(name(dtype));
    run_ranks(GetParam(), [&](Rank& rank) {
      const int root = rank.size / 2;
      const Tensor joined = cat(all_parts(rank.size, dtype));
      const auto room = [&](int64_t count) { return zeros({count}, {.dtype = dtype, .device = rank.device()}); };
      const Tensor own = rank.here(part_of(rank.rank, dtype)), from_root = own.clone();
      rank.run(rank.nccl, in_place(Collective::Broadcast, from_root, root));
      EXPECT_TRUE(equal(from_root.cpu(), part_of(root, dtype)));

      const Tensor gathered = room(6 * rank.size);
      rank.run(rank.nccl, call_of(Collective::AllGather, own, own, gathered));
      EXPECT_TRUE(equal(gathered.cpu(), joined));
      gathered.zero_();
      rank.run(rank.nccl, call_of(Collective::Gather, own, own, gathered, root));
      EXPECT_TRUE(equal(gathered.cpu(), rank.rank == root ? joined : zeros_like(joined)));

      const Tensor scattered = room(6), whole = rank.here(joined);
      rank.run(rank.nccl, call_of(Collective::Scatter, scattered, whole, scattered, root));
      EXPECT_TRUE(equal(scattered.cpu(), part_of(rank.rank, dtype)));

      // Rank r sends s + 1 elements to rank s.
      std::vector<int64_t> out_counts, in_counts;
      std::vector<Tensor> to_all, from_all;
      for (int r = 0; r < rank.size; ++r) {
        in_counts.push_back(r + 1);
        out_counts.push_back(rank.rank + 1);
        to_all.push_back(part_of(rank.rank, dtype).narrow(0, 0, r + 1));
        from_all.push_back(part_of(r, dtype).narrow(0, 0, rank.rank + 1));
      }
      const Tensor in = rank.here(cat(to_all)), out = room(rank.size * (rank.rank + 1));
      Call exchange = call_of(Collective::AllToAll, in, in, out);
      exchange.out_counts = out_counts;
      exchange.in_counts = in_counts;
      rank.run(rank.nccl, exchange);
      EXPECT_TRUE(equal(out.cpu(), cat(from_all)));
      rank.run(rank.nccl, {.kind = Collective::Barrier, .sizes = {}});
    });
  }
}

TEST_P(NcclCollectives, Messages) {
  run_ranks(GetParam(), [&](Rank& rank) {
    // Everyone sends to all others before anyone receives.
    const Tensor own = rank.here(part_of(rank.rank, kInt16));
    for (int other = 0; other < rank.size; ++other)
      if (other != rank.rank) rank.run(rank.nccl, in_place(Collective::Send, own, other));
    for (int other = 0; other < rank.size; ++other) {
      if (other == rank.rank) continue;
      const Tensor in = rank.here(zeros({6}, {.dtype = kInt16}));
      rank.run(rank.nccl, in_place(Collective::Recv, in, other));
      EXPECT_TRUE(equal(in.cpu(), part_of(other, kInt16)));
    }
    EXPECT_ERROR(rank.run(rank.nccl, {.kind = Collective::Send, .dtype = kInt16, .root = 0, .tag = 3, .sizes = {0}}), Error,
                 "NCCL's messages have no tags: tag is 3");
  });
}

TEST_P(NcclCollectives, SubGroups) {
  run_ranks(GetParam(), [&](Rank& rank) {
    // Every other rank, backwards, and one of its own within.
    std::vector<int> ranks;
    for (int r = (rank.size - 1) / 2 * 2; r >= 0; r -= 2) ranks.push_back(r);
    std::unique_ptr<Backend> some;
    rank.call({.kind = Collective::NewGroup, .sizes = {}}, [&](const Context& c) { some = rank.nccl.sub_group(c, ranks); });
    ASSERT_EQ(some != nullptr, rank.rank % 2 == 0);
    if (!some) return;
    EXPECT_EQ(some->size(), static_cast<int>(ranks.size()));
    EXPECT_EQ(ranks[static_cast<size_t>(some->rank())], rank.rank);
    const Tensor t = rank.here(full({2}, 1.0 + rank.rank));
    rank.run(*some, in_place(Collective::Broadcast, t, 0));
    EXPECT_TRUE(equal(t.cpu(), full({2}, 1.0 + ranks[0])));
    std::unique_ptr<Backend> alone;
    const int last[] = {some->size() - 1};
    rank.call({.kind = Collective::NewGroup, .sizes = {}}, [&](const Context& c) { alone = some->sub_group(c, last); });
    EXPECT_EQ(alone != nullptr, some->rank() == last[0]);
    if (some->size() < 2 || some->rank() > 1) return;
    const Tensor message = rank.here(full({1}, 5.0 + some->rank()));
    rank.run(*some, in_place(Collective::Send, message, 1 - some->rank()));
    rank.run(*some, in_place(Collective::Recv, message, 1 - some->rank()));
    EXPECT_EQ(message.item<float>(), 6.0F - static_cast<float>(some->rank()));
  });
}

TEST_P(NcclCollectives, CallsNcclAsItIsMeant) {
  run_ranks(GetParam(), [&](Rank& rank) {
    const Tensor t = rank.here(ones({4}, {.dtype = kBool})), wide = rank.here(ones({4}, {.dtype = kInt16}));
    rank.run(rank.nccl, in_place(Collective::AllReduce, t));
    rank.run(rank.nccl, in_place(Collective::AllReduce, wide));
    rank.run(rank.nccl, in_place(Collective::Broadcast, wide, 0));
    cuda::synchronize(rank.device());
  });
  const std::lock_guard lock(stand_in()->mutex);
  ASSERT_EQ(stand_in()->calls.size(), 3 * static_cast<size_t>(GetParam()));
  for (const testing::NcclCall& call : stand_in()->calls) {
    EXPECT_NE(call.stream, nullptr);
    if (call.function == "ncclBroadcast") {
      EXPECT_EQ(call.count, 8U);
      EXPECT_EQ(call.type, ncclUint8);
    } else {
      EXPECT_EQ(call.count, 4U);
      EXPECT_EQ(call.op, call.type == ncclUint8 ? ncclMax : ncclSum);
      EXPECT_TRUE(call.type == ncclUint8 || call.type == ncclInt32);
    }
  }
}

TEST(NcclOfOneThread, CallsEveryDeviceTogether) {
  ASSERT_NE(stand_in(), nullptr);
  stand_in()->clear();
  for (const int size : {2, 3, testing::kDevices}) {
    std::vector<Device> devices;
    std::vector<Tensor> tensors;
    const std::vector<Tensor> parts = all_parts(size, kFloat32, 6 * size);
    for (int r = 0; r < size; ++r) {
      devices.push_back(gpu(r));
      tensors.push_back(parts[static_cast<size_t>(r)].to(gpu(r)));
    }
    const auto count = [](const char* function) {
      const std::lock_guard lock(stand_in()->mutex);
      return stand_in()->functions[function];
    };
    const int before = count("ncclAllGather");
    for (const Tensor& all : comm::all_gather(tensors)) EXPECT_TRUE(equal(all.cpu(), cat(parts)));
    EXPECT_EQ(count("ncclAllGather"), before + size);
    const auto scattered = comm::reduce_scatter(tensors);
    for (int r = 0; r < size; ++r)
      EXPECT_TRUE(equal(scattered[static_cast<size_t>(r)].cpu(), reduced(parts, ReduceOp::SUM).narrow(0, 6 * r, 6)));
    EXPECT_TRUE(equal(comm::reduce_add(tensors, gpu(1)).cpu(), reduced(parts, ReduceOp::SUM)));
    for (const Tensor& copy : comm::broadcast(tensors[1], devices)) EXPECT_TRUE(equal(copy.cpu(), parts[1]));
    std::vector<Tensor> shorts;
    for (const Tensor& t : tensors) shorts.push_back(t.to(kInt16));
    comm::all_reduce(shorts, ReduceOp::MAX);
    comm::all_reduce(tensors);
    for (int r = 0; r < size; ++r) {
      EXPECT_TRUE(equal(tensors[static_cast<size_t>(r)].cpu(), reduced(parts, ReduceOp::SUM)));
      EXPECT_TRUE(equal(shorts[static_cast<size_t>(r)].cpu(), reduced(parts, ReduceOp::MAX).to(kInt16)));
    }
    {
      const std::lock_guard lock(stand_in()->mutex);
      stand_in()->fail["ncclAllReduce"] = ncclUnhandledCudaError;
    }
    EXPECT_ERROR(comm::all_reduce(tensors), Error, "NCCL's ncclAllReduce failed");
    for (const Device device : devices) {
      try {
        cuda::synchronize(device);
      } catch (const Error&) {
        // Of work before, whose end was not seen yet.
      }
    }
    for (int r = 0; r < size; ++r) tensors[static_cast<size_t>(r)].copy_(parts[static_cast<size_t>(r)]);
    comm::all_reduce(tensors);  // with new communicators
    for (const Tensor& t : tensors) EXPECT_TRUE(equal(t.cpu(), reduced(parts, ReduceOp::SUM)));
  }
  const std::lock_guard lock(stand_in()->mutex);
  EXPECT_EQ(stand_in()->misuses, std::vector<std::string>());
  EXPECT_EQ(stand_in()->functions["ncclGroupStart"], stand_in()->functions["ncclGroupEnd"]);
}

INSTANTIATE_TEST_SUITE_P(Ranks, NcclCollectives, ::testing::Range(1, testing::kDevices + 1));

}  // namespace
}  // namespace tandem
