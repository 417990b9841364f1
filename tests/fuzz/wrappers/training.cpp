#include "training.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace fuzz {
namespace {

namespace dist = td::distributed;
using td::StateDict;

constexpr int kRows = 12;  // of a micro-batch, of all ranks
constexpr int kInfiniteStep = 1;

bool has_batch_norm(const Cell& cell) { return cell.has(Option::BatchNorm) || cell.has(Option::SyncBatchNorm); }

/// How many rows of a micro-batch each rank has.
std::vector<int> shares(const Cell& cell, int step) {
  const int ranks = cell.ranks_at(step);
  std::vector<int> counts(static_cast<size_t>(ranks), kRows / ranks);
  if (step != Cell::kSteps - 1) return counts;
  if (cell.has(Option::Join))
    for (size_t r = 1; r < counts.size(); r += 2) counts[r] = 0;
  if (cell.has(Option::Uneven)) {
    if (cell.kind == Kind::DataParallel) counts.back() -= 1;  // chunks are of one size, but for the last
    else if (cell.has(Option::Join)) counts[0] += 1;
    else counts.back() = has_batch_norm(cell) ? 2 : 1;
  }
  return counts;
}

/// The rows from `first` on of a micro-batch, which some rank calls the module with.
struct Chunk {
  int rank = 0;  // whose it is
  int64_t first = 0, count = 0;
};

/// How running figures of normalization go from rank to rank.
enum class Figures : uint8_t { One, OfRankZero, Own };
Figures figures_of(const Cell& cell) {
  if (!cell.has(Option::BatchNorm)) return Figures::One;
  return cell.kind == Kind::Zero2 ? Figures::Own : Figures::OfRankZero;
}

/// Of one process that plays all ranks: each one's running figures, as they are at each of its forwards.
class Juggler {
 public:
  Juggler(Figures figures, Net& net, int ranks) : figures_(figures), net_(net) { start(ranks); }
  void start(int ranks) {
    const StateDict now = own_.empty() ? copied() : own_[0];
    own_.assign(static_cast<size_t>(ranks), now);
    forwards_.assign(static_cast<size_t>(ranks), 0);
    after_ = {now};
  }
  void enter(int rank) {
    rank_ = static_cast<size_t>(rank);
    if (figures_ != Figures::One) load(own_[rank_]);
  }
  void before_forward(bool synchronized) {
    if (figures_ == Figures::OfRankZero && synchronized && rank_ > 0) load(after_[forwards_[rank_]]);
  }
  void after_forward() {
    ++forwards_[rank_];
    own_[rank_] = copied();
    if (rank_ == 0) after_.push_back(own_[0]);
  }
  [[nodiscard]] std::vector<StateDict> all() const {
    if (figures_ == Figures::One) return std::vector<StateDict>(own_.size(), copied());
    return own_;
  }

 private:
  [[nodiscard]] StateDict copied() const {
    StateDict state;
    for (const auto& [name, buffer] : net_.named_buffers()) state[name] = buffer.detach().clone();
    return state;
  }
  void load(const StateDict& state) {
    const td::NoGradGuard no_grad;
    for (const auto& [name, buffer] : net_.named_buffers()) buffer.copy_(state.at(name));
  }

  Figures figures_;
  Net& net_;
  size_t rank_ = 0;
  std::vector<StateDict> own_, after_;  // after_[k]: rank 0's behind its forward k
  std::vector<size_t> forwards_;
};

/// Whether a gradient of zero and none come to the same: in a unit of FullyShardedDataParallel one parameter's makes the others' zeros.
bool fills_missing(const Cell& cell) { return cell.kind == Kind::Fsdp && (cell.has(Option::Unused) || cell.has(Option::PartlyUsed)); }

double tolerance(const Cell& cell) {
  if (cell.float32) return 5e-3;
  // The norm of all gradients is a float32.
  return cell.has(Option::Clipping) || cell.has(Option::Scaler) ? 2e-5 : 1e-7;
}

void compare(const Cell& cell, const std::string& what, const Tensor& got, const Tensor& wanted) {
  const Tensor here = got.detach().cpu().to(td::kFloat64).contiguous(), there = wanted.detach().cpu().to(td::kFloat64).contiguous();
  if (here.sizes() != there.sizes())
    throw std::logic_error(td::str(what, " has size ", here.sizes(), ", and ", there.sizes(), " in one process"));
  // Of the largest element: the others were added up from numbers of its size.
  const double largest = there.numel() ? td::nan_to_num(there, 0, 0, 0).abs().max().item<double>() : 0;
  const double limit = tolerance(cell) * (1 + largest);
  for (int64_t i = 0; i < here.numel(); ++i) {
    const double a = here.data_ptr<double>()[i], b = there.data_ptr<double>()[i];
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= limit) continue;
    throw std::logic_error(td::str(what, " differs at element ", i, ": ", a, ", and ", b, " in one process"));
  }
}

void compare(const Cell& cell, const std::string& what, const StateDict& got, const StateDict& wanted) {
  for (const auto& [name, value] : wanted) {
    const Tensor* found = got.find(name);
    if (!found) throw std::logic_error(td::str(what, " lacks '", name, "'"));
    compare(cell, td::str(what, " '", name, "'"), *found, value);
  }
  for (const auto& [name, value] : got)
    if (!wanted.contains(name)) throw std::logic_error(td::str(what, " has '", name, "', which one process has not"));
}

StateDict buffers_of(const StateDict& state, const Net& net) {
  StateDict buffers;
  for (const auto& [name, buffer] : net.named_buffers()) buffers[name] = state.at(name).cpu().clone();
  return buffers;
}

/// Steps of a cell, by one process that plays all ranks or by one of them.
class Loop {
 public:
  /// `rank` -1: all of them. `expected`: what to compare with, or nullptr.
  Loop(const Cell& cell, int rank, std::unique_ptr<Wrapped> wrapped, const Trace* expected)
      : cell_(cell),
        rank_(rank),
        wrapped_(std::move(wrapped)),
        expected_(expected),
        juggler_(rank < 0 ? figures_of(cell) : Figures::One, wrapped_->net(), rank < 0 ? cell.ranks : 1),
        scaler_({.init_scale = 1024, .growth_interval = 2, .enabled = cell.has(Option::Scaler)}) {
    if (cell.has(Option::Schedule)) {
      td::optim::Optimizer& optimizer = wrapped_->optimizer();
      switch (cell.seed % 3) {
        case 0: schedule_ = std::make_unique<td::optim::StepLR>(optimizer, 2, 0.3); break;
        // Momentum would make a gradient of zero something else than none: see `fill_missing`.
        case 1:
          schedule_ = std::make_unique<td::optim::OneCycleLR>(optimizer, 0.05, Cell::kSteps + 1,
                                                              td::optim::OneCycleOptions{.cycle_momentum = !fills_missing(cell)});
          break;
        default: schedule_ = std::make_unique<td::optim::CosineAnnealingLR>(optimizer, 4);
      }
    }
    if (cell.has(Option::Average))
      for (const Tensor& parameter : wrapped_->averaged()) average_.push_back(parameter.detach().clone());
  }

  void run(int from, int to) {
    if (!cell_.has(Option::Join) || rank_ < 0) {
      for (int step = from; step < to; ++step) take(step);
      return;
    }
    wrapped_->join([&] {
      for (int step = from; step < to; ++step) take(step);
    });
  }

  /// One process reaches the checkpoint.
  void restart() {
    juggler_.start(cell_.read_by);
    wrapped_->zero_grad(true, true);
  }

  void save(const std::string& folder) {
    StateDict all;
    all.add("optimizer.", wrapped_->optimizer_state());
    wrapped_->save_shards(folder + "/shards");
    all.add("model.", wrapped_->state());
    if (cell_.has(Option::Scaler)) all.add("scaler.", scaler_.state_dict());
    if (schedule_) all.add("schedule.", schedule_->state_dict());
    if (cell_.has(Option::Average)) all.add("average.", wrapped_->by_name(average_));
    if (rank_ <= 0) td::io::save_safetensors(folder + "/all.safetensors", all);
    if (cell_.kind != Kind::DataParallel) dist::barrier();
  }
  void load(const std::string& folder) {
    const td::io::TensorMap read = td::io::load_safetensors(folder + "/all.safetensors");
    StateDict all;
    for (const auto& [name, value] : read) all[name] = value;
    wrapped_->load(all.under("model."), all.under("optimizer."));
    if (cell_.seed % 2 == 0) wrapped_->load_shards(folder + "/shards");
    if (cell_.has(Option::Scaler)) scaler_.load_state_dict(all.under("scaler."));
    if (schedule_) schedule_->load_state_dict(all.under("schedule."));
    if (cell_.has(Option::Average)) average_ = wrapped_->from_names(all.under("average."));
  }

  /// What is there at the end.
  void finish(Trace& trace) {
    const StateDict state = wrapped_->state();
    trace.parameters = {};
    for (const auto& [name, parameter] : wrapped_->net().named_parameters()) trace.parameters[name] = state.at(name).cpu().clone();
    trace.buffers = rank_ < 0 ? juggler_.all() : std::vector<StateDict>{buffers_of(state, wrapped_->net())};
    trace.optimizer = wrapped_->optimizer_state();
    if (cell_.has(Option::Average)) trace.average = wrapped_->by_name(average_);
  }

  std::vector<Trace::Step> steps;

 private:
  /// What this process calls the module with in a micro-batch.
  [[nodiscard]] std::vector<Chunk> chunks(int step) const {
    const std::vector<int> counts = shares(cell_, step);
    std::vector<Chunk> all;
    int64_t first = 0;
    for (size_t r = 0; r < counts.size(); ++r) {
      all.push_back({static_cast<int>(r), first, counts[r]});
      first += counts[r];
    }
    if (rank_ >= 0 && cell_.kind != Kind::DataParallel) return {all[static_cast<size_t>(rank_)]};
    if (rank_ < 0 && figures_of(cell_) != Figures::One) {
      std::erase_if(all, [](const Chunk& chunk) { return chunk.count == 0; });
      return all;
    }
    return {{0, 0, first}};
  }

  void take(int step) {
    const std::vector<int> counts = shares(cell_, step);
    const std::vector<Chunk> mine = chunks(step);
    if (mine[0].count == 0) return;
    const int total = std::accumulate(counts.begin(), counts.end(), 0), micros = cell_.micro_batches();
    Draws draws(cell_.seed + 100 + static_cast<uint64_t>(step));
    std::vector<bool> flagged;
    for (int r = 0; r < cell_.ranks_at(step); ++r) flagged.push_back(draws.one_in(2));
    wrapped_->zero_grad(draws.one_in(2), draws.one_in(2));
    Trace::Step now;
    for (int micro = 0; micro < micros; ++micro) {
      const bool quiet = cell_.has(Option::NoSync) && micro + 1 < micros;
      const std::shared_ptr<void> scope = quiet ? wrapped_->no_sync() : nullptr;
      const Tensor x = inputs_of(cell_, wrapped_->net(), step, micro, total);
      int64_t first = 0;
      for (size_t r = 0; r < counts.size(); first += counts[r++])
        if (flagged[r]) x.narrow(0, first, counts[r]).narrow(1, 0, 1).fill_(1);
      const Tensor y = targets_of(cell_, step, micro, total), losses = td::zeros({total}, dtype_of(cell_));
      const bool infinite = cell_.has(Option::Scaler) && step == kInfiniteStep && micro + 1 == micros;
      const uint64_t forwards = cell_.seed + static_cast<uint64_t>(step * 10 + micro);
      for (const Chunk& chunk : mine) {
        const auto part = [&](const Tensor& all) { return all.narrow(0, chunk.first, chunk.count).to(device()); };
        const bool is_culprit = (rank_ < 0 || cell_.kind == Kind::DataParallel)
                                    ? figures_of(cell_) == Figures::One || chunk.rank == cell_.culprit()
                                    : rank_ == cell_.culprit();
        wrapped_->net().spikes = infinite && (is_culprit || cell_.kind == Kind::DataParallel);
        // Ranks whose weights differ give their own mean, others their part of the whole one.
        double factor = 1.0 / (total * micros);
        if (rank_ >= 0 && cell_.has(Option::Join)) {
          factor = 1.0 / (static_cast<double>(chunk.count) * micros);
          wrapped_->set_weight(static_cast<double>(chunk.count));
        } else if (rank_ >= 0 && cell_.kind != Kind::DataParallel) {
          factor *= cell_.ranks_at(step);
        }
        juggler_.enter(rank_ < 0 ? chunk.rank : 0);
        const Tensor rows = call_and_differentiate(part(x), part(y), factor, quiet, forwards);
        losses.narrow(0, chunk.first, chunk.count).copy_(rows.detach().cpu());
        wrapped_->net().spikes = false;
      }
      if (expected_)
        compare(cell_, where(step, td::str("micro-batch ", micro, ": losses")), losses.narrow(0, mine[0].first, mine[0].count),
                expected_->steps[static_cast<size_t>(step)].losses[static_cast<size_t>(micro)].narrow(0, mine[0].first, mine[0].count));
      now.losses.push_back(losses);
    }
    end_step(step, now);
  }

  /// Each row's loss, after the backward of their sum times `factor`.
  Tensor call_and_differentiate(const Tensor& x, const Tensor& y, double factor, bool quiet, uint64_t seed) {
    Draws draws(seed);
    Tensor target = y;
    const auto look = [&] {  // a forward that nobody differentiates
      if (!cell_.has(Option::Between) || draws.one_in(3)) return;
      const td::NoGradGuard no_grad;
      wrapped_->net().train(draws.one_in(2));
      target = target + 0.1 * forward(x, quiet);
      wrapped_->net().train();
    };
    look();
    const Tensor input = cell_.has(Option::Penalty) ? x.detach().clone().requires_grad_() : x;
    const Tensor out = forward(input, quiet);
    look();
    Tensor rows = (out - target).pow(2).sum(1);
    if (cell_.has(Option::Penalty)) {
      const Tensor slope = td::grad({out.pow(2).sum()}, {input}, {.create_graph = true})[0];
      rows = rows + 0.1 * slope.pow(2).sum(1);
    }
    scaler_.scale(rows.sum() * factor).backward();
    look();
    return rows;
  }

  Tensor forward(const Tensor& x, bool quiet) {
    // In join others may have left: what nobody differentiates is this rank's alone.
    juggler_.before_forward(!quiet && (td::is_grad_enabled() || !cell_.has(Option::Join)));
    Tensor out = wrapped_->forward(x);
    juggler_.after_forward();
    return out;
  }

  void end_step(int step, Trace::Step& now) {
    td::optim::Optimizer& optimizer = wrapped_->optimizer();
    if (rank_ < 0 && fills_missing(cell_)) fill_missing();
    scaler_.unscale_(optimizer);
    const bool finite = !(cell_.has(Option::Scaler) && step == kInfiniteStep);
    if (finite && !(expected_ && cell_.kind == Kind::Zero2)) now.gradients = wrapped_->gradients();
    if (cell_.has(Option::Clipping)) now.norm = wrapped_->clip(0.5).item<double>();
    now.taken = scaler_.step(optimizer);
    scaler_.update();
    now.scale = scaler_.get_scale();
    if (schedule_) schedule_->step();
    now.rate = optimizer.param_groups()[0].lr;
    if (cell_.has(Option::Average)) {
      const td::NoGradGuard no_grad;
      const std::vector<Tensor> parameters = wrapped_->averaged();
      for (size_t i = 0; i < parameters.size(); ++i) average_[i].mul_(0.9).add_(parameters[i].detach(), 0.1);
    }
    if (expected_) check(step, now, finite);
    steps.push_back(std::move(now));
  }

  void fill_missing() {
    for (const Tensor& parameter : wrapped_->net().parameters())
      if (parameter.requires_grad() && !parameter.grad().defined()) parameter.grad() = td::zeros_like(parameter.detach());
  }

  void check(int step, const Trace::Step& now, bool finite) const {
    const Trace::Step& then = expected_->steps[static_cast<size_t>(step)];
    if (finite && cell_.kind != Kind::Zero2) compare(cell_, where(step, "gradient"), now.gradients, then.gradients);
    if (finite && now.norm)
      compare(cell_, where(step, "the gradients' norm"), td::tensor(*now.norm, td::kFloat64), td::tensor(*then.norm, td::kFloat64));
    const auto same = [&](const char* what, double a, double b) {
      if (std::abs(a - b) > 1e-12) throw std::logic_error(td::str(where(step, what), " is ", a, ", and ", b, " in one process"));
    };
    same("whether the step was taken", now.taken, then.taken);
    same("the scale", now.scale, then.scale);
    same("the learning rate", now.rate, then.rate);
  }

  [[nodiscard]] std::string where(int step, const std::string& what) const { return td::str("rank ", rank_, ", step ", step, ": ", what); }
  td::Device device() { return wrapped_->net().spike.device(); }

  const Cell& cell_;
  int rank_;
  std::unique_ptr<Wrapped> wrapped_;
  const Trace* expected_;
  Juggler juggler_;
  td::amp::GradScaler scaler_;
  std::unique_ptr<td::optim::Schedule> schedule_;
  std::vector<Tensor> average_;
};

}  // namespace

Trace reference(const Cell& cell) {
  Loop loop(cell, -1, alone(cell), nullptr);
  loop.run(0, Cell::kHalf);
  if (cell.has_two_parts()) loop.restart();
  loop.run(Cell::kHalf, Cell::kSteps);
  Trace trace;
  loop.finish(trace);
  trace.steps = std::move(loop.steps);
  return trace;
}

void train_rank(const Cell& cell, bool second, int rank, const Trace& expected, const std::string& folder) {
  const int ranks = second ? cell.read_by : cell.ranks;
  Loop loop(cell, rank, wrapped(cell, ranks, rank), &expected);
  if (second) loop.load(folder);
  const bool last = second || !cell.has_two_parts();
  loop.run(second ? Cell::kHalf : 0, last ? Cell::kSteps : Cell::kHalf);
  if (!last) {
    loop.save(folder);
    return;
  }
  Trace got;
  loop.finish(got);
  const std::string who = td::str("rank ", rank, ", in the end: ");
  compare(cell, who + "parameter", got.parameters, expected.parameters);
  const bool of_rank_zero = cell.kind == Kind::Fsdp || cell.has(Option::Join);
  compare(cell, who + "buffer", got.buffers[0], expected.buffers[of_rank_zero ? 0 : static_cast<size_t>(rank)]);
  const bool came_last = shares(cell, Cell::kSteps - 1)[static_cast<size_t>(rank)] > 0;
  if (came_last) compare(cell, who + "optimizer", got.optimizer, expected.optimizer);
  if (came_last) compare(cell, who + "average", got.average, expected.average);
}

}  // namespace fuzz
