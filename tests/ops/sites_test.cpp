// Whatever an operation launches, forward and backward, belongs to the line that called it: the one that errors of asynchronous work name.
#include <mutex>
#include <set>

#include "kernels/missing.h"
#include "ops/launch.h"
#include "runtime/driver.h"
#include "support/on_device.h"
#include "cases/case.h"

namespace td = tandem;

namespace {

std::mutex mutex;
std::set<std::string> seen;  // "exp at file:line"

template <auto Entry>
struct Noted;
template <class... Args, void (*td::kernels::Table::*Entry)(const td::Queue&, Args...)>
struct Noted<Entry> {
  static void call(const td::Queue& queue, Args... args) {
    {
      const std::lock_guard lock(mutex);
      seen.insert(td::str(queue.op, " at ", queue.site.file, ":", queue.site.line));
    }
    (td::kernels::virtual_table().*Entry)(queue, args...);
  }
};

const td::kernels::Table& noting_table() {
  static const td::kernels::Table table = [] {
    td::kernels::Table all = td::kernels::virtual_table();
    td::kernels::with_entries([&]<auto... Entries>() { ((all.*Entries = Noted<Entries>::call), ...); });
    return all;
  }();
  return table;
}

/// The launches since the last call that belong to no line of a case's, nor to that of the call of backward.
std::string foreign() {
  std::string out;
  for (const std::string& launch : seen)
    if (launch.find("/tests/cases/") == std::string::npos && launch.find(__FILE__) == std::string::npos) out += "\n    " + launch;
  seen.clear();
  return out;
}

TEST(Sites, OfEveryOperationAreTheCallers) {
  (void)td::cuda::device_count();
  if (!td::runtime::cards_are_virtual()) GTEST_SKIP() << "a real card's kernels are not watched";
  td::ops::use_card_kernels(&noting_table());
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
      seen.clear();
      const td::cases::Results results = operation.run(arguments);
      forward += foreign();
      for (const td::Tensor& result : results) {
        if (!result.defined() || !result.requires_grad()) continue;
        const td::Tensor seed = td::ones_like(result.detach());
        td::cuda::synchronize(0);
        seen.clear();
        result.backward(seed, {.retain_graph = true});
        backward += foreign();
      }
      td::cuda::synchronize(0);
    }
    if (!forward.empty()) findings += "\n  " + operation.name + ", forward:" + forward;
    if (!backward.empty()) findings += "\n  " + operation.name + ", backward:" + backward;
  }
  td::ops::use_card_kernels(nullptr);
  EXPECT_EQ(findings, "");
}

}  // namespace
