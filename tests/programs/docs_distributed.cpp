// env: TANDEM_VIRTUAL_GPUS=2x256MiB
// The snippets of docs/distributed.md, as they stand there.
#include <tandem/tandem.h>

#include "check.h"

namespace td = tandem;
namespace dist = td::distributed;

namespace {

void first() {
  dist::init_process_group();
  const int rank = dist::get_rank(), world = dist::get_world_size();

  auto t = td::ones({3}, td::try_gpu()) * (rank + 1);
  dist::all_reduce(t);                                           // in place: the sum of all ranks' t
  const auto all = dist::all_gather(td::full({1}, 1.0 * rank));  // every rank's tensor, in their order
  dist::barrier();
  dist::destroy_process_group();

  CHECK(world == 1 && all.size() == 1 && td::equal(t.cpu(), td::ones({3})));
}

void threads() {
  dist::run_ranks(4, [&](int rank) {
    const auto t = td::full({2}, 1.0 * rank);
    dist::all_reduce(t);  // 0 + 1 + 2 + 3
    CHECK(td::equal(t, td::full({2}, 6.0)));
  });
}

void devices() {
  std::vector<td::Tensor> data;
  for (int i = 0; i < 2; ++i) data.push_back(td::ones({2}, td::gpu(i)) * (i + 1));
  td::comm::all_reduce(data);
  const auto copies = td::comm::broadcast(td::arange(3), {td::gpu(0), td::gpu(1)});
  const auto total = td::comm::reduce_add(data, td::gpu(1));

  CHECK(td::equal(data[0].cpu(), td::full({2}, 3.0)) && td::equal(total.cpu(), td::full({2}, 6.0)));
  CHECK(copies[1].device() == td::gpu(1) && td::equal(copies[1].cpu(), td::arange(3)));
}

}  // namespace

int main() {
  first();
  threads();
  devices();
  return finish();
}
