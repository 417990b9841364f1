// env: TANDEM_VIRTUAL_GPUS=2x256MiB
// Tensors and their operations, on every device.
#include <tandem/tandem.h>

#include "check.h"

namespace td = tandem;
using td::Slice;

static void on(td::Device device) {
  const td::Options here{.device = device};
  const auto a = td::arange(12).to(device, td::kFloat32).reshape({3, 4});

  // Views share storage; writing through one shows in the other.
  auto v = a.clone();
  v.select(0, 1).fill_(-1);
  CHECK(v.sum().item<float>() == 66 - 22 - 4);
  CHECK(v[1].sizes() == td::Shape{4});
  CHECK(v.t().stride(0) == 1 && !v.t().is_contiguous());
  CHECK(v.view({2, 6}).sizes() == td::Shape{2, 6});
  CHECK_ERROR(v.t().view({12}), td::Error, "view size is not compatible");
  CHECK(v.reshape({-1}).size(0) == 12);
  CHECK(v.unsqueeze(0).squeeze(0).sizes() == v.sizes());
  CHECK(v.permute({1, 0}).sizes() == td::Shape{4, 3});

  // Indexing.
  CHECK(td::equal(a.index({Slice(), 1}), a.select(1, 1)));
  CHECK(td::equal(a.index({Slice(0, 2), Slice(1, 4, 2)}), td::tensor({{1.f, 3.f}, {5.f, 7.f}}, device)));
  CHECK(td::equal(a.index({td::tensor({2, 0}, device)}), td::stack({a[2], a[0]})));
  CHECK(a.index({a > 5}).size(0) == 6);
  CHECK(a.index({td::Ellipsis, td::None, -1}).sizes() == td::Shape{3, 1});
  auto w = a.clone();
  w.index_put_({Slice(), 0}, 9.0);
  CHECK(w.index({Slice(), 0}).sum().item<float>() == 27);
  CHECK_ERROR(a.select(0, 3), td::Error, "out of range");
  CHECK_ERROR(a.index({Slice(), Slice(), 0}), td::Error, "too many indices");

  // Broadcasting and types.
  CHECK((a + td::ones({4}, here)).sizes() == td::Shape{3, 4});
  CHECK_ERROR(a + td::ones({3}, here), td::Error,
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1");
  CHECK((td::arange(3).to(device) + 1).dtype() == td::kInt64);
  CHECK((td::arange(3).to(device) + 1.5).dtype() == td::kFloat32);
  CHECK((td::arange(3).to(device) / 2).dtype() == td::kFloat32);
  CHECK((td::ones({2}, {.dtype = td::kFloat16, .device = device}) + td::ones({2}, here)).dtype() == td::kFloat32);
  CHECK((a > 3).dtype() == td::kBool);
  CHECK_ERROR(td::arange(3).to(device).add_(1.5), td::Error, "result type Float can't be cast to the desired output type Long");

  // Reductions.
  CHECK(td::equal(a.sum(0), td::tensor({12.f, 15.f, 18.f, 21.f}, device)));
  CHECK(a.sum(1, true).sizes() == td::Shape{3, 1});
  CHECK(a.mean().item<float>() == 5.5f);
  const auto [values, indices] = a.max(1);
  CHECK(td::equal(indices, td::full({3}, 3, {.dtype = td::kInt64, .device = device})));
  CHECK(values.sum().item<float>() == 21);
  CHECK(a.argmax().item<int64_t>() == 11);
  CHECK(std::abs(a.norm().item<float>() - 22.494444f) < 1e-4f);
  CHECK(std::abs(a.std().item<float>() - 3.6055512f) < 1e-5f);
  CHECK(td::zeros({0, 3}, here).sum().item<float>() == 0);
  CHECK_ERROR(td::zeros({0}, here).max(), td::Error, "numel() == 0");

  // Products.
  CHECK(td::equal(td::matmul(a, a.t()).diagonal(), (a * a).sum(1)));
  CHECK(td::bmm(td::ones({2, 3, 4}, here), td::ones({2, 4, 5}, here)).sizes() == td::Shape{2, 3, 5});
  CHECK(td::matmul(td::ones({7, 1, 3, 4}, here), td::ones({2, 4, 5}, here)).sizes() == td::Shape{7, 2, 3, 5});
  CHECK(td::allclose(td::einsum("ij,kj->ik", {a, a}), td::matmul(a, a.t())));
  CHECK_ERROR(td::mm(a, a), td::Error, "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)");

  // Joining, splitting, choosing.
  CHECK(td::cat({a, a}, 1).sizes() == td::Shape{3, 8});
  CHECK(a.chunk(2, 1).size() == 2 && a.split(3, 1).at(1).size(1) == 1);
  CHECK(td::equal(td::where(a > 5, a, td::zeros_like(a)), a * (a > 5)));
  CHECK(td::equal(a.gather(1, td::tensor({{0}, {1}, {2}}, device)).flatten(), td::tensor({0.f, 5.f, 10.f}, device)));
  CHECK(a.flip({0})[0][0].item<float>() == 8);
  const auto [sorted, order] = td::tensor({3.f, 1.f, 2.f}, device).sort(0, true);
  CHECK(td::equal(order, td::tensor({0, 2, 1}, device)));
  CHECK(a.topk(2, 1).values.sizes() == td::Shape{3, 2});
  CHECK(a.cumsum(1).select(1, 3).sum().item<float>() == 66);
  CHECK(td::tril(td::ones({3, 3}, here)).sum().item<float>() == 6);

  // Pointwise, in place and out of place.
  CHECK(td::allclose(td::softmax(a, 1).sum(1), td::ones({3}, here)));
  CHECK(td::allclose(td::sigmoid(a) + td::sigmoid(-a), td::ones({3, 4}, here)));
  CHECK(td::allclose(td::exp(td::log(a + 1)), a + 1));
  CHECK(td::allclose(td::erf(td::tensor({0.5}, device)), td::tensor({0.5204999}, device)));
  CHECK(a.clamp(2, 5).max().item<float>() == 5);
  auto p = a.clone();
  p += 1;
  p.mul_(2).sub_(a);
  CHECK(td::allclose(p, a + 2));
  CHECK(td::isnan(td::tensor({0.f}, device) / 0).item<bool>());
  CHECK(td::equal(td::floor_divide(td::tensor({-7}, device), td::tensor({2}, device)), td::tensor({-4}, device)));
  CHECK(td::equal(td::remainder(td::tensor({-7}, device), td::tensor({3}, device)), td::tensor({2}, device)));
}

int main() {
  on(td::cpu());
  on(td::gpu(0));
  on(td::gpu(1));
  return finish();
}
