// env: TANDEM_VIRTUAL_GPUS=4x256MiB
// Several devices in one process: scatter, replicate, apply in parallel, gather; data parallelism that equals one device.
#include <tandem/tandem.h>

#include "check.h"

namespace td = tandem;
namespace nn = td::nn;

struct Net : nn::Module {
  nn::Linear in{16, 12};
  td::Tensor batches = td::zeros({}, td::kInt64);
  nn::Linear out{12, 3};
  void fields(nn::Fields& f) override {
    f("in", in);
    f.buffer("batches", batches);
    f("out", out);
  }
  td::Tensor forward(const td::Tensor& x) override {
    if (training()) batches.add_(1);
    return out(td::relu(in(td::flatten(x, 1))));
  }
};

int main() {
  const auto devices = td::try_all_gpus();
  CHECK(devices.size() == 4);

  // Scatter is chunk.
  auto parts = td::parallel::scatter(td::arange(10), devices);
  CHECK(parts.size() == 4 && parts[0].size(0) == 3 && parts[3].size(0) == 1 && parts[3].device() == td::gpu(3));
  CHECK(td::parallel::scatter(td::arange(5), devices).size() == 3);
  CHECK(td::equal(td::parallel::gather(parts, td::cpu()), td::arange(10)));
  CHECK(td::parallel::gather({td::tensor(1., td::gpu(0)), td::tensor(2., td::gpu(1))}, td::gpu(0)).sizes() == td::Shape{2});

  // Replicas compute at the same time, each on its device.
  Net net;
  net.to(td::gpu(0));
  net.eval();
  const auto images = td::randn({10, 1, 4, 4}, td::gpu(0));
  auto replicas = td::parallel::replicate(net, devices);
  auto outputs = td::parallel::parallel_apply(replicas, td::parallel::scatter(images, devices));
  CHECK(outputs.size() == 4 && outputs[2].device() == td::gpu(2));
  CHECK(td::allclose(td::parallel::gather(outputs, td::gpu(0)), net(images), 1e-5, 1e-5));

  // Data parallel: the gradient is the one that a single device computes, for uneven shards too.
  const auto labels = td::arange(10).remainder(3).to(td::gpu(0));
  net.zero_grad();
  td::cross_entropy(net(images), labels).backward();
  std::vector<td::Tensor> expected;
  for (const auto& p : net.parameters()) expected.push_back(p.grad().clone());
  net.zero_grad();
  td::parallel::DataParallel parallel(net, devices);
  const auto out = parallel(images);
  CHECK(out.device() == td::gpu(0));
  td::cross_entropy(out, labels).backward();
  const auto parameters = net.parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    CHECK(parameters[i].grad().device() == td::gpu(0) && td::allclose(parameters[i].grad(), expected[i], 1e-4, 1e-5));
  net.train();
  (void)parallel(images);
  CHECK(net.batches.item<int64_t>() == 1);  // replica 0's figures stay
  Net elsewhere;
  td::parallel::DataParallel misplaced(elsewhere, devices);
  CHECK_ERROR(misplaced(images), td::Error,
              "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one of them on device: cpu");

  // An error on one replica comes out, and says where.
  CHECK_ERROR(parallel(td::randn({8, 2, 8, 8}, td::gpu(0))), td::Error, "replica");
  return finish();
}
