// One of the two that a program is run on: a network, called itself or compiled, with what a user has beside it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "network.h"
#include "program.h"

namespace fuzz {

/// What a forward gave.
struct Given {
  td::Tensor input, result;
  std::string error;  // what it threw
};

class Side {
 public:
  Side(uint64_t seed, bool compiled);
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// Does a step. What there is to compare beside the state: results, gradients.
  [[nodiscard]] std::vector<td::Tensor> step(const Step& step);
  /// What the step has thrown; empty where nothing.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Whether the step's forward was recorded for gradients.
  [[nodiscard]] bool recorded() const { return recorded_; }
  /// A line about the step, for people.
  [[nodiscard]] const std::string& line() const { return line_; }
  /// Parameters, their gradients, and buffers, with their names.
  [[nodiscard]] std::vector<std::pair<std::string, td::Tensor>> state();
  /// Brings all tensors to one dtype and device, all finite, leaves again, as after a failed step.
  void repair();
  /// Whether the last call took compiled steps.
  [[nodiscard]] bool in_steps() const { return fast_ && fast_->why().empty(); }
  [[nodiscard]] std::string text() const { return td::nn::to_string(*network_); }

 private:
  void change(const Step& step, Draw& draw);
  void change_values(const Step& step, Draw& draw);
  void change_tensors(const Step& step, Draw& draw);
  void change_form(const Step& step, Draw& draw);
  void change_surroundings(const Step& step, Draw& draw);
  [[nodiscard]] Given forward(Draw& draw, bool quiet);
  [[nodiscard]] td::Tensor input(Draw& draw);
  [[nodiscard]] std::vector<td::Tensor*> fields(bool parameters, bool buffers);
  [[nodiscard]] std::vector<Block*> blocks();
  void remove_hooks();
  void compile() { fast_ = compiled_ ? std::make_unique<td::Compiled>(td::compile(*network_, {.max_sizes = 3})) : nullptr; }

  bool compiled_, recorded_ = false;
  Form form_;
  std::unique_ptr<Block> network_;
  std::unique_ptr<td::Compiled> fast_;
  std::unique_ptr<td::optim::Optimizer> optimizer_;
  std::vector<std::pair<size_t, td::Tensor>> kept_;  // pruned parameters, by their numbers
  std::vector<td::Tensor> averages_;
  std::vector<td::nn::HookHandle> hooks_;
  std::vector<std::pair<td::Tensor, int64_t>> gradient_hooks_;
  std::deque<Given> waiting_;  // for their backward
  std::string error_, line_;
};

}  // namespace fuzz
