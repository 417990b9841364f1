#include "program.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "side.h"

namespace fuzz {
namespace {

using td::Tensor;
using Kind = Step::Kind;

struct Weighted {
  Kind kind;
  const char* name;
  int weight;
};
constexpr std::array kKinds = {
    Weighted{Kind::Call, "Call", 60},
    Weighted{Kind::CallQuietly, "CallQuietly", 60},
    Weighted{Kind::Forward, "Forward", 10},
    Weighted{Kind::Backward, "Backward", 10},
    Weighted{Kind::ChangeInPlace, "ChangeInPlace", 10},
    Weighted{Kind::Assign, "Assign", 15},
    Weighted{Kind::Prune, "Prune", 6},
    Weighted{Kind::PutBack, "PutBack", 6},
    Weighted{Kind::OtherElements, "OtherElements", 6},
    Weighted{Kind::Tie, "Tie", 6},
    Weighted{Kind::Load, "Load", 8},
    Weighted{Kind::Swap, "Swap", 6},
    Weighted{Kind::Move, "Move", 4},
    Weighted{Kind::Convert, "Convert", 5},
    Weighted{Kind::Train, "Train", 12},
    Weighted{Kind::Freeze, "Freeze", 6},
    Weighted{Kind::Hook, "Hook", 6},
    Weighted{Kind::Replace, "Replace", 8},
    Weighted{Kind::Optimize, "Optimize", 10},
    Weighted{Kind::ZeroGrad, "ZeroGrad", 4},
    Weighted{Kind::Compute, "Compute", 2},
    Weighted{Kind::NotFinite, "NotFinite", 2},
    Weighted{Kind::Churn, "Churn", 4},
    Weighted{Kind::Share, "Share", 2},
    Weighted{Kind::Threads, "Threads", 3},
    Weighted{Kind::CompileAnew, "CompileAnew", 3},
    Weighted{Kind::Clone, "Clone", 2},
};

std::string difference(const Tensor& got, const Tensor& wanted, double rtol) {
  if (got.defined() != wanted.defined()) return got.defined() ? "there is one" : "there is none";
  if (!got.defined()) return {};
  if (got.sizes() != wanted.sizes() || got.dtype() != wanted.dtype() || got.device() != wanted.device())
    return td::str(got.dtype(), " ", got.sizes(), " on ", got.device(), " for ", wanted.dtype(), " ", wanted.sizes(), " on ",
                   wanted.device());
  const td::NoGradGuard quiet;
  const Tensor a = got.detach().cpu().to(td::kFloat64), b = wanted.detach().cpu().to(td::kFloat64);
  const Tensor finite = b.nan_to_num(0, 0, 0).abs();
  const double most = finite.numel() > 0 ? finite.max().item<double>() : 0;
  if (td::allclose(a, b, rtol, rtol * most, true)) return {};
  return td::str("differs by ", (a - b).abs().max().item<double>(), " where numbers go up to ", most);
}

/// In what the compiled side differs; a line, or an empty text.
std::string compare(const Step& step, Side& plain, const std::vector<Tensor>& wanted, Side& fast, const std::vector<Tensor>& got) {
  // Of what has changed since forward the two need other parts: the plain graph what the gradients that are asked for need, the steps what
  // all do. Either may refuse for itself.
  if (step.kind == Kind::Backward && (!plain.error().empty() || fast.error().find("modified by an inplace operation") != std::string::npos))
    return {};
  if (plain.error().empty() != fast.error().empty())
    return plain.error().empty() ? "only the compiled module throws: " + fast.error() : "only the plain module throws: " + plain.error();
  if (got.size() != wanted.size()) return td::str(got.size(), " results for ", wanted.size());
  if (plain.recorded() != fast.recorded()) return "one of them alone has recorded";
  // Where gradients are recorded they agree to the bit; those of some tensors alone may be another kernel's in the plain graph.
  const double rtol = step.kind == Kind::Backward ? 1e-5 : !plain.recorded() && fast.in_steps() ? 1e-4 : 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (const auto how = difference(got[i], wanted[i], rtol); !how.empty())
      return td::str(i == 0 && step.kind != Kind::Backward ? "the result " : td::str("gradient ", i, " "), how);
  const auto a = fast.state(), b = plain.state();
  if (a.size() != b.size()) return "the modules have other tensors";
  for (size_t i = 0; i < a.size(); ++i)
    if (const auto how = difference(a[i].second, b[i].second, 0); !how.empty()) return td::str(a[i].first, " ", how);
  return {};
}

}  // namespace

const char* name_of(Kind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [&](const Weighted& each) { return each.kind == kind; })->name;
}

Program make_program(uint64_t seed, int length, bool gpus) {
  Program program{seed, {}};
  Draw draw(seed ^ 0x636f6d70696c65ULL);
  int64_t all = 0;
  for (const Weighted& each : kKinds) all += each.weight;
  while (program.steps.size() < static_cast<size_t>(length)) {
    int64_t at = draw.below(all);
    const auto* chosen = kKinds.begin();
    while (at >= chosen->weight) at -= (chosen++)->weight;
    const Step step{chosen->kind, draw.seed()};
    if (gpus || step.kind != Kind::Move) program.steps.push_back(step);
  }
  return program;
}

std::string network_of(uint64_t seed) { return Side(seed, false).text(); }

Report run(const Program& program) {
  Report report;
  td::set_num_threads(2);
  Side plain(program.seed, false), fast(program.seed, true);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const std::vector<Tensor> wanted = plain.step(step), got = fast.step(step);
    report.log.push_back(fast.line() + (fast.error().empty() ? "" : ": " + fast.error()));
    report.at = i;
    report.wrong = compare(step, plain, wanted, fast, got);
    if (!report.wrong.empty()) return report;
    const bool calls = step.kind == Kind::Call || step.kind == Kind::CallQuietly || step.kind == Kind::Forward;
    report.calls += calls && plain.error().empty();
    report.in_steps += calls && plain.error().empty() && fast.in_steps();
    if (!calls || plain.error().empty()) continue;
    plain.repair();
    fast.repair();
  }
  return report;
}

}  // namespace fuzz
