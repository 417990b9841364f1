// Whatever backward launches and allocates belongs to the user's line of the forward operation: what asynchronous errors and out-of-memory
// texts name. On a virtual GPU whose kernels fail when told to.
#include <algorithm>
#include <atomic>
#include <set>

#include "kernels/missing.h"
#include "runtime/driver.h"
#include "runtime/virtual/stream.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using Tensors = std::vector<td::Tensor>;

std::atomic<int> kernels_until_failure{0};  // 0: none fails

template <auto Entry>
struct Failing;
template <class... Args, void (*td::kernels::Table::*Entry)(const td::Queue&, Args...)>
struct Failing<Entry> {
  static void call(const td::Queue& queue, Args... args) {
    if (kernels_until_failure > 0 && --kernels_until_failure == 0)
      td::runtime::virtual_gpu::enqueue(queue, [](const td::Queue&) { throw td::Error("failed as it was told to"); });
    else (td::kernels::virtual_table().*Entry)(queue, args...);
  }
};

const td::kernels::Table& failing_table() {
  static const td::kernels::Table table = [] {
    td::kernels::Table all = td::kernels::virtual_table();
    td::kernels::for_each_entry([&]<auto Entry>(const char*) { all.*Entry = Failing<Entry>::call; });
    return all;
  }();
  return table;
}

/// An operation of each kind, on one line.
struct Kind {
  const char* name;
  std::vector<td::Shape> sizes;
  std::function<td::Tensor(const Tensors&)> f;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

const td::Tensor& places() {
  static const td::Tensor all = td::arange(256, {.dtype = td::kInt64, .device = td::gpu(0)});
  return all;
}

// clang-format off
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"unary", {{256, 256}}, [](const Tensors& in) { return td::exp(in[0]); }},
      {"binary", {{256, 256}, {256, 256}}, [](const Tensors& in) { return in[0] * in[1]; }},
      {"broadcast", {{256, 256}, {256}}, [](const Tensors& in) { return in[0] / in[1]; }},
      {"activation", {{256, 256}}, [](const Tensors& in) { return td::gelu(in[0]); }},
      {"where", {{256, 256}, {256, 256}}, [](const Tensors& in) { return td::where(in[0] > 0.5, in[0], in[1]); }},
      {"in_place", {{256, 256}, {256, 256}}, [](const Tensors& in) { return (in[0] * 1).mul_(in[1]); }},
      {"softmax", {{256, 256}}, [](const Tensors& in) { return td::softmax(in[0], 1); }},
      {"log_softmax", {{256, 256}}, [](const Tensors& in) { return td::log_softmax(in[0], 1); }},
      {"sum", {{256, 256}}, [](const Tensors& in) { return in[0].sum(1) * 2; }},
      {"mean", {{256, 256}}, [](const Tensors& in) { return in[0].mean({0}); }},
      {"var", {{256, 256}}, [](const Tensors& in) { return td::var(in[0], td::Shape{1}); }},
      {"amax", {{256, 256}}, [](const Tensors& in) { return td::amax(in[0], {1}); }},
      {"max", {{256, 256}}, [](const Tensors& in) { return td::max(in[0], 1).values; }},
      {"prod", {{256, 256}}, [](const Tensors& in) { return td::prod(in[0], 1); }},
      {"cumsum", {{256, 256}}, [](const Tensors& in) { return td::cumsum(in[0], 1); }},
      {"sort", {{256, 256}}, [](const Tensors& in) { return td::sort(in[0], 1).values; }},
      {"matmul", {{256, 256}, {256, 256}}, [](const Tensors& in) { return td::matmul(in[0], in[1]); }},
      {"bmm", {{4, 128, 128}, {4, 128, 128}}, [](const Tensors& in) { return td::bmm(in[0], in[1]); }},
      {"linear", {{256, 256}, {256, 256}, {256}}, [](const Tensors& in) { return td::linear(in[0], in[1], in[2]); }},
      {"einsum", {{256, 256}, {256, 256}}, [](const Tensors& in) { return td::einsum("ij,kj->ik", {in[0], in[1]}); }},
      {"conv2d", {{2, 4, 32, 32}, {8, 4, 3, 3}, {8}}, [](const Tensors& in) { return td::conv2d(in[0], in[1], in[2]); }},
      {"max_pool2d", {{4, 4, 64, 64}}, [](const Tensors& in) { return td::max_pool2d(in[0], 2); }},
      {"avg_pool2d", {{4, 4, 64, 64}}, [](const Tensors& in) { return td::avg_pool2d(in[0], 2); }},
      {"interpolate", {{2, 4, 32, 32}}, [](const Tensors& in) { return td::interpolate(in[0], {.size = td::Shape{64, 64}, .mode = "bilinear"}); }},
      {"index", {{256, 256}}, [](const Tensors& in) { return in[0].index({places()}); }},
      {"index_select", {{256, 256}}, [](const Tensors& in) { return in[0].index_select(0, places()); }},
      {"index_put", {{256, 256}, {256, 256}}, [](const Tensors& in) { return in[0].index_put({places()}, in[1]); }},
      {"gather", {{256, 256}}, [](const Tensors& in) { return in[0].gather(1, places().unsqueeze(0)); }},
      {"scatter_add", {{256, 256}, {256, 256}}, [](const Tensors& in) { return in[0].scatter_add(1, places().expand({256, 256}), in[1]); }},
      {"embedding", {{256, 256}}, [](const Tensors& in) { return td::embedding(places(), in[0]); }},
      {"cat", {{256, 256}, {256, 256}}, [](const Tensors& in) { return td::cat({in[0], in[1]}, 1); }},
      {"slice", {{256, 256}}, [](const Tensors& in) { return in[0].slice(0, 3, 200); }},
      {"as_strided", {{256, 256}}, [](const Tensors& in) { return in[0].as_strided({100, 100}, {2, 1}); }},
      {"view_of_changed", {{256, 256}}, [](const Tensors& in) { const td::Tensor x = in[0] * 1, view = x.slice(0, 0, 9); x.mul_(2); return view * 1; }},
      {"pad", {{256, 256}}, [](const Tensors& in) { return td::pad(in[0], {1, 2}); }},
      {"to", {{256, 256}}, [](const Tensors& in) { return in[0].to(td::kFloat64); }},
      {"cpu", {{256, 256}}, [](const Tensors& in) { return in[0].cpu(); }},
      {"layer_norm", {{256, 256}, {256}, {256}}, [](const Tensors& in) { return td::layer_norm(in[0], {256}, in[1], in[2]); }},
      {"dropout", {{256, 256}}, [](const Tensors& in) { return td::dropout(in[0], 0.5); }},
      {"cross_entropy", {{256, 256}}, [](const Tensors& in) { return td::cross_entropy(in[0], places()); }},
      {"mse_loss", {{256, 256}, {256, 256}}, [](const Tensors& in) { return td::mse_loss(in[0], in[1]); }},
      {"attention", {{2, 4, 64, 32}, {2, 4, 64, 32}, {2, 4, 64, 32}}, [](const Tensors& in) { return td::scaled_dot_product_attention(in[0], in[1], in[2]); }},
      {"inverse", {{32, 32}}, [](const Tensors& in) { return td::linalg::inv(in[0]); }},
      {"norm", {{256, 256}}, [](const Tensors& in) { return td::norm(in[0]); }},
  };
  return all;
}
// clang-format on

/// The lines that an operation's nodes were recorded for.
std::set<std::string> lines_of(const td::Ref<td::autograd::Node>& node) {
  std::set<std::string> lines{td::str(node->site().file, ":", node->site().line)};
  for (const auto& edge : node->edges())
    if (edge.node) lines.merge(lines_of(edge.node));
  return lines;
}

class Sites : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    (void)td::cuda::device_count();
    if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "a real GPU's kernels cannot be made to fail";
  }
  void TearDown() override {
    kernels_until_failure = 0;
    if (td::runtime::devices_are_virtual()) td::kernels::set_gpu_table(td::kernels::virtual_table());
  }
  /// The operation and its gradient's seed, and what it is differentiated by.
  struct Forward {
    Tensors leaves;
    td::Tensor y, seed;
  };
  static Forward forward(const Kind& kind) {
    Forward all;
    for (const td::Shape& sizes : kind.sizes) {
      td::Tensor leaf = td::rand(sizes, td::gpu(0)) + 0.1;
      all.leaves.push_back(leaf.requires_grad_());
    }
    all.y = kind.f(all.leaves);
    all.seed = td::ones_like(all.y.detach());
    td::cuda::synchronize(0);
    return all;
  }
};

TEST_P(Sites, OfAnErrorInBackwardIsTheForwardsLine) {
  td::kernels::set_gpu_table(failing_table());
  for (int failing = 1;; ++failing) {
    ASSERT_LT(failing, 100);
    const Forward at = forward(GetParam());
    const auto lines = lines_of(at.y.grad_fn());
    kernels_until_failure = failing;
    const std::string error = error_of([&] {
      at.y.backward(at.seed);
      td::cuda::synchronize(0);
    });
    if (kernels_until_failure > 0) {
      EXPECT_EQ(error, "no error");
      EXPECT_TRUE(failing > 1 || at.y.is_cpu()) << "no kernel was launched";
      return;
    }
    const auto named = [&](const std::string& line) {
      return line.starts_with(__FILE__) && error.find(" (queued at " + line + " on cuda:0)") != std::string::npos;
    };
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), named)) << "kernel " << failing << ": " << error;
  }
}

TEST_P(Sites, OfMemoryTakenInBackwardAreTheUsers) {
  const std::string own = std::string(__FILE__).substr(std::string(__FILE__).rfind('/') + 1);
  td::cuda::synchronize(0);
  td::cuda::empty_cache();
  constexpr int64_t kPiece = 256 << 10;
  Tensors most;
  for (int i = 0; i < 7; ++i) most.push_back(td::empty({32 << 20}, {.dtype = td::kUInt8, .device = td::gpu(0)}));
  for (int left = 0;; ++left) {
    ASSERT_LT(left, 200);
    const Forward at = forward(GetParam());
    Tensors filler;
    for (const int64_t size : {int64_t{2} << 20, kPiece, int64_t{16} << 10}) {
      try {
        for (;;) filler.push_back(td::empty({size}, {.dtype = td::kUInt8, .device = td::gpu(0)}));
      } catch (const td::OutOfMemoryError&) {
      }
    }
    const auto first = std::find_if(filler.begin(), filler.end(), [](const td::Tensor& x) { return x.numel() == kPiece; });
    filler.erase(first, std::min(first + left, filler.end()));  // so much is left for backward
    const std::string error = error_of([&] { at.y.backward(at.seed); });
    td::cuda::synchronize(0);
    if (error == "no error") return;
    EXPECT_NE(error.find("out of memory"), std::string::npos) << error;
    const std::string held = error.substr(error.find("Held by: ") + 9);
    for (size_t at_cpp = held.find(".cpp:"); at_cpp != std::string::npos; at_cpp = held.find(".cpp:", at_cpp + 1)) {
      const size_t start = held.rfind(' ', at_cpp);
      EXPECT_EQ(held.substr(start == std::string::npos ? 0 : start + 1, own.size()), own) << error;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Sites, testing::ValuesIn(kinds()), [](const auto& info) { return std::string(info.param.name); });

struct Own : td::autograd::Function<Own> {
  static inline int line = 0;
  static td::Tensor forward(td::autograd::Context&, const td::Tensor& x) { return x * 2; }
  static Tensors backward(td::autograd::Context&, const Tensors& grads) {
    line = __LINE__ + 1;
    return {grads[0] * 2};
  }
};

class SitesOfUsersCode : public Sites {};

TEST_P(SitesOfUsersCode, InBackwardAreItsOwn) {
  td::kernels::set_gpu_table(failing_table());
  auto x = td::ones({4}, {.device = td::gpu(0), .requires_grad = true});
  const auto seed = td::ones({4}, td::gpu(0));
  const auto error_in = [&](const td::Tensor& y) {
    kernels_until_failure = 1;
    return error_of([&] {
      y.backward(seed);
      td::cuda::synchronize(0);
    });
  };
  EXPECT_NE(error_in(Own::apply(x)).find(td::str(__FILE__, ":", Own::line, " on")), std::string::npos);
  auto y = x.view({2, 2}).view({4});
  y.register_hook([](const td::Tensor& g) { return g * 3; });
  const int line = __LINE__ - 1;
  EXPECT_NE(error_in(y).find(td::str(__FILE__, ":", line, " on")), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SitesOfUsersCode, testing::Values(Kind{"own", {}, {}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SitesOfTheEngine, AreTheCallOfBackward) {
  const auto x = td::ones({4}, {.device = td::gpu(0), .requires_grad = true});
  const auto seed = td::ones({4}, td::gpu(0));
  x.backward(seed);
  const int line = __LINE__ - 1;
  const auto address = reinterpret_cast<uintptr_t>(x.grad().data_ptr());
  int found = 0;
  for (const auto& segment : td::cuda::memory_snapshot(td::gpu(0))) {
    uintptr_t at = segment.address;
    for (const auto& block : segment.blocks) {
      if (at == address) {
        ++found;
        EXPECT_EQ(block.file, __FILE__);
        EXPECT_EQ(block.line, line);
      }
      at += block.size;
    }
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
