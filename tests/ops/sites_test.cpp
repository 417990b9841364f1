// Whatever an operation launches, forward and backward, belongs to the line that called it: the one that errors of asynchronous work name.
#include <mutex>
#include <set>

#include "cases/case.h"
#include "runtime/observer.h"
#include "support/on_device.h"

namespace td = tandem;

namespace {

/// "exp at file:line" of each launch while it lives.
class Watch final : public td::runtime::Observer {
 public:
  Watch() { td::runtime::add_observer(*this); }
  ~Watch() override { td::runtime::remove_observer(*this); }
  void begin(const td::runtime::facts::Kernel& kernel) noexcept override {
    const std::lock_guard lock(mutex_);
    seen.insert(td::str(kernel.op, " at ", kernel.site.file, ":", kernel.site.line));
  }
  std::set<std::string> seen;

 private:
  std::mutex mutex_;
};

/// The launches since the last call that belong to no line of a case's, nor to that of the call of backward.
std::string foreign(Watch& watch) {
  std::string out;
  for (const std::string& launch : watch.seen)
    if (launch.find("/tests/cases/") == std::string::npos && launch.find(__FILE__) == std::string::npos) out += "\n    " + launch;
  watch.seen.clear();
  return out;
}

TEST(Sites, OfEveryOperationAreTheCallers) {
  Watch watch;
  std::string findings;
  for (const td::cases::Operation& operation : td::cases::operations()) {
    std::string forward, backward;
    for (const td::cases::Sample& sample : operation.samples()) {
      std::vector<td::Tensor> leaves;
      td::cases::Arguments arguments;
      for (const td::cases::Argument& argument : sample.arguments)
        arguments.push_back(argument.map([&](const td::Tensor& x) {
          const bool takes_it = !x.is_floating_point() || td::cases::has(operation.dtypes, x.dtype());
          td::Tensor y = (takes_it ? x : x.to(td::kInt64)).to(td::gpu(0));
          if (operation.gradient && y.is_floating_point()) leaves.push_back(y.requires_grad_());
          return y;
        }));
      watch.seen.clear();
      const td::cases::Results results = operation.run(arguments);
      forward += foreign(watch);
      for (const td::Tensor& result : results) {
        if (!result.defined() || !result.requires_grad()) continue;
        const td::Tensor seed = td::ones_like(result.detach());
        td::cuda::synchronize(0);
        watch.seen.clear();
        result.backward(seed, {.retain_graph = true});
        backward += foreign(watch);
      }
      td::cuda::synchronize(0);
    }
    if (!forward.empty()) findings += "\n  " + operation.name + ", forward:" + forward;
    if (!backward.empty()) findings += "\n  " + operation.name + ", backward:" + backward;
  }
  EXPECT_EQ(findings, "");
}

}  // namespace
