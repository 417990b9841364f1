// A module and its optimizer behind each of the wrappers, and alone: what the loop of training calls.
#pragma once

#include <functional>
#include <memory>

#include "net.h"

namespace fuzz {

class Wrapped {
 public:
  virtual ~Wrapped() = default;
  Wrapped(const Wrapped&) = delete;
  Wrapped& operator=(const Wrapped&) = delete;

  virtual Tensor forward(const Tensor& x) = 0;
  /// Until the end of what it gives, gradients stay on their rank.
  virtual std::shared_ptr<void> no_sync() { return nullptr; }
  virtual void zero_grad(bool by_module, bool set_to_none) {
    if (by_module) net().zero_grad(set_to_none);
    else optimizer().zero_grad(set_to_none);
  }
  virtual Tensor clip(double max_norm) { return td::nn::utils::clip_grad_norm_(net().parameters(), max_norm); }
  virtual void join(const std::function<void()>& steps) { steps(); }
  virtual void set_weight(double) {}

  // Whole, on the CPU, and collective where there are ranks.
  /// Parameters and buffers by their names.
  virtual td::StateDict state() { return net().state_dict(); }
  /// Gradients by the parameters' names; nothing where they cannot be had.
  virtual td::StateDict gradients();
  /// As an optimizer of all parameters gives it.
  virtual td::StateDict optimizer_state() { return optimizer().state_dict(); }
  virtual void load(const td::StateDict& state, const td::StateDict& optimizer_state);
  /// Writes and reads the module's state in files of its own, where it can.
  virtual void save_shards(const std::string&) {}
  virtual void load_shards(const std::string&) {}

  /// What an average of the parameters is kept of, and such an average by the parameters' names.
  virtual std::vector<Tensor> averaged() { return net().parameters(); }
  virtual td::StateDict by_name(const std::vector<Tensor>& values);
  virtual std::vector<Tensor> from_names(const td::StateDict& values);

  [[nodiscard]] Net& net() { return *net_; }
  [[nodiscard]] td::optim::Optimizer& optimizer() { return *optimizer_; }

 protected:
  explicit Wrapped(std::shared_ptr<Net> net) : net_(std::move(net)) {}
  std::shared_ptr<Net> net_;
  std::unique_ptr<td::optim::Optimizer> optimizer_;
};

/// The module alone, on the CPU.
[[nodiscard]] std::unique_ptr<Wrapped> alone(const Cell& cell);
/// The module of this rank, or, for DataParallel, on `ranks` GPUs.
[[nodiscard]] std::unique_ptr<Wrapped> wrapped(const Cell& cell, int ranks, int rank);

}  // namespace fuzz
