// Collectives of real GPUs: NCCL with this process as its one rank, and all GPUs of this process together, as many as there are. Skipped
// where there is no real GPU, or no NCCL.
#include <tandem/tandem.h>

#include "check.h"

namespace td = tandem;
namespace dist = td::distributed;

namespace {

/// Why NCCL is not tried here; empty where it is.
std::string why_not() {
  if (td::cuda::device_count() == 0 || td::cuda::get_device_properties(0).is_virtual) return "there is no real GPU";
  for (const td::cuda::Library& library : td::cuda::libraries())
    if (library.name == "NCCL") return library.why;
  return "the plug-in knows no NCCL";
}

/// As one rank: every collective gives what it got, in each dtype.
void one_rank() {
  dist::init_process_group("nccl", {.rank = 0, .world_size = 1, .init_method = "program_nccl"});
  CHECK(dist::get_backend() == "nccl");
  for (const td::DType dtype :
       {td::kBool, td::kUInt8, td::kInt8, td::kInt16, td::kInt32, td::kInt64, td::kFloat16, td::kBFloat16, td::kFloat32, td::kFloat64}) {
    const td::Tensor own = td::arange(12).remainder(2).to(dtype), t = own.to(td::gpu());
    for (const dist::ReduceOp op : {dist::ReduceOp::SUM, dist::ReduceOp::PRODUCT, dist::ReduceOp::MIN, dist::ReduceOp::MAX}) {
      dist::all_reduce(t, op);
      CHECK(td::equal(t.cpu(), own));
    }
    if (td::is_floating(dtype)) dist::all_reduce(t, dist::ReduceOp::AVG);
    dist::broadcast(t, 0);
    dist::reduce(t, 0);
    CHECK(td::equal(dist::all_gather(t)[0].cpu(), own));
    CHECK(td::equal(dist::reduce_scatter(t).cpu(), own));
    CHECK(td::equal(dist::all_to_all({t})[0].cpu(), own));
    CHECK(td::equal(dist::gather(t, 0)[0].cpu(), own));
    const td::Tensor part = td::zeros_like(t);
    dist::scatter(part, {t}, 0);
    CHECK(td::equal(part.cpu(), own));
  }
  const td::Tensor later = td::ones({1000}, td::gpu());
  const dist::Work work = dist::all_reduce(later, dist::ReduceOp::SUM, {.async_op = true});
  work.wait();
  CHECK(td::equal(later.cpu(), td::ones({1000})));
  const dist::ProcessGroup alone = dist::new_group({0});
  dist::all_reduce(later, dist::ReduceOp::SUM, {.group = alone});
  dist::barrier();
  CHECK(td::equal(later.cpu(), td::ones({1000})));
  dist::destroy_process_group();
}

/// By NCCL where each device is a GPU of its own, else by copies.
void all_devices() {
  std::vector<td::Tensor> tensors;
  for (int i = 0; i < td::cuda::device_count(); ++i) tensors.push_back(td::full({1 << 20}, i + 1.0, td::gpu(i)));
  const auto n = static_cast<double>(tensors.size());
  for (const td::Tensor& all : td::comm::all_gather(tensors))
    CHECK(all.sum().item<float>() == static_cast<float>(n * (n + 1) / 2 * (1 << 20)));
  td::comm::all_reduce(tensors);
  for (const td::Tensor& t : tensors) CHECK(td::equal(t.cpu(), td::full({1 << 20}, n * (n + 1) / 2)));
}

}  // namespace

int main() {
  if (const std::string why = why_not(); !why.empty()) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  one_rank();
  all_devices();
  return finish();
}
