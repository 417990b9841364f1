// What an observer of launches is told: the memory of every result, and scratch, lists and optimizers' parameters too.
#include "runtime/observer.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "cases/case.h"
#include "support/on_device.h"

namespace td = tandem;

namespace {

using td::runtime::Access;

class Watch final : public td::runtime::Observer {
 public:
  Watch() { td::runtime::add_observer(*this); }
  ~Watch() override { td::runtime::remove_observer(*this); }
  void begin(const td::runtime::facts::Kernel& kernel) noexcept override {
    const std::lock_guard lock(mutex_);
    for (const Access& access : kernel.accesses) {
      told_.push_back({kernel.op, access});
      if (access.kind != Access::Written && access.kind != Access::Changed) continue;
      const auto* begin = static_cast<const char*>(access.begin);
      const char*& end = written_[begin];
      end = std::max(end, begin + access.bytes);
    }
  }
  /// Whether each byte was written since the last `forget`.
  [[nodiscard]] bool wrote(const char* begin, const char* end) const {
    for (const auto& [from, to] : written_)
      if (from <= begin && to > begin) begin = to;
    return begin >= end;
  }
  /// What was told of an operation, of one kind.
  [[nodiscard]] std::vector<Access> told(const std::string& op, Access::Kind kind) const {
    std::vector<Access> found;
    for (const auto& [name, access] : told_)
      if (name == op && access.kind == kind) found.push_back(access);
    return found;
  }
  void forget() {
    written_.clear();
    told_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<const char*, const char*> written_;
  std::vector<std::pair<std::string, Access>> told_;
};

class Observed : public OnDevice {};

TEST_P(Observed, EveryResultIsWrittenByALaunch) {
  std::string findings;
  for (const td::cases::Operation& operation : td::cases::operations()) {
    if (operation.name == "tensor" || operation.name == "contiguous") continue;  // the host writes values that the caller gave
    for (const td::cases::Sample& sample : operation.samples()) {
      std::vector<const td::Storage*> given;
      td::cases::Arguments arguments;
      for (const td::cases::Argument& argument : sample.arguments)
        arguments.push_back(argument.map([&](const td::Tensor& x) {
          const bool takes_it = !x.is_floating_point() || td::cases::has(operation.dtypes, x.dtype());
          const td::Tensor y = (takes_it ? x : x.to(td::kInt64)).to(device());
          given.push_back(y.impl().storage);
          return y;
        }));
      Watch watch;
      for (const td::Tensor& result : operation.run(arguments)) {
        if (!result.defined() || result.numel() == 0 || result.device() != device()) continue;
        const td::TensorImpl& impl = result.impl();
        if (!impl.contiguous || std::find(given.begin(), given.end(), impl.storage) != given.end()) continue;  // a view
        const auto* begin = static_cast<const char*>(impl.data);
        if (!watch.wrote(begin, begin + result.nbytes())) findings += "\n  " + operation.name + ": " + td::str(result.sizes());
      }
    }
  }
  EXPECT_EQ(findings, "");
}

TEST_P(Observed, InputsAreApartFromOutputsAndScratch) {
  const auto x = td::ones({4, 6}, device()), y = td::ones({6}, device());
  Watch watch;
  const auto z = x.transpose(0, 1).narrow(0, 1, 2) * 2 + y[0];
  const auto read = watch.told("mul", Access::Read), written = watch.told("mul", Access::Written);
  ASSERT_EQ(read.size(), 1U);
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(read[0].begin, static_cast<const float*>(x.impl().data) + 1);  // columns 1 and 2 of the four rows
  EXPECT_EQ(read[0].bytes, (3 * 6 + 2) * sizeof(float));
  EXPECT_EQ(written[0].bytes, 8 * sizeof(float));
  EXPECT_EQ(written[0].dtype, td::kFloat32);

  watch.forget();
  (void)td::flip(y, {0});
  ASSERT_EQ(watch.told("flip", Access::Read).size(), 1U);  // a negative stride begins at its last element
  EXPECT_EQ(watch.told("flip", Access::Read)[0].begin, y.impl().data);
  EXPECT_EQ(watch.told("flip", Access::Read)[0].bytes, 6 * sizeof(float));

  watch.forget();
  const auto big = td::ones({300, 300}, device());
  (void)td::sort(big);
  EXPECT_EQ(watch.told("sort", Access::Written).size(), 2U);
  x.index_put_({td::tensor({1}, device())}, y);
  ASSERT_EQ(watch.told("index_put_", Access::Changed).size(), 1U);
  EXPECT_EQ(watch.told("index_put_", Access::Changed)[0].begin, x.impl().data);
  EXPECT_EQ(watch.told("index_put_", Access::Read).size(), 2U);  // values and indices
}

TEST_P(Observed, NothingIsToldOfWhatIsEmpty) {
  const auto x = td::ones({0, 3}, device());
  Watch watch;
  (void)td::softmax(x, 1);
  (void)td::cumsum(x, 0);
  EXPECT_TRUE(watch.told("softmax", Access::Written).empty());
  EXPECT_TRUE(watch.told("cumsum", Access::Written).empty());
  // A list of places that are none may still be wrong.
  EXPECT_THROW(
      {
        x.index_put_({td::tensor({5}, device())}, td::ones({1, 3}, device()));
        if (device().is_cuda()) td::cuda::synchronize(device());
      },
      td::Error);
}

TEST_P(Observed, OptimizersChangeParametersAndTheirStates) {
  auto p = td::ones({5}, device()).requires_grad_();
  p.set_grad(td::ones({5}, device()));
  td::optim::Adam adam({p}, {.lr = 0.1});
  td::optim::RMSprop rms({p}, {.lr = 0.1, .momentum = 0.5});
  td::optim::SGD sgd({p}, {.lr = 0.1, .momentum = 0.5});
  adam.step();
  rms.step();
  sgd.step();
  Watch watch;
  adam.step();
  rms.step();
  sgd.step();
  td::nn::utils::clip_grad_norm_({p}, 0.5);
  EXPECT_EQ(watch.told("Adam", Access::Changed).size(), 3U);
  EXPECT_EQ(watch.told("RMSprop", Access::Changed).size(), 3U);
  EXPECT_EQ(watch.told("SGD", Access::Changed).size(), 2U);
  ASSERT_EQ(watch.told("clip_grad_norm_", Access::Changed).size(), 1U);
  EXPECT_EQ(watch.told("clip_grad_norm_", Access::Changed)[0].begin, p.grad().impl().data);
}

INSTANTIATE_TEST_SUITE_P(Devices, Observed, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
