// What a module's forward does for an input, learned by calling it without computing: the kernels in order, and the memory between them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compile/call.h"
#include "nn/module.h"
#include "runtime/tracer.h"

namespace tandem::compiling {

/// A piece of memory that tensors were given while a trace was made. It stays until nobody holds it.
struct Block {
  explicit Block(size_t size);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* data;
  size_t bytes;
  bool in_use = true;         // a tensor has it
  bool host_written = false;  // the host put values there
};

/// The kernel calls of a forward, and of the backward behind it. Whoever reads it finds addresses of three kinds: memory of the trace, the
/// input, and what the module has.
class Trace final : public runtime::Tracer {
 public:
  Trace() = default;

  /// Calls the module. False where its forward cannot be noted: `why` says what stood in the way.
  bool record(nn::Module& module, const Tensor& x, Site site);
  /// Calls the module with gradients recorded, and then its backward for the gradients of `wanted`. `x` is a leaf.
  bool record_with_gradients(nn::Module& module, const Tensor& x, const std::vector<Tensor>& wanted, Site site);
  /// Calls any function, without gradients. `met` is told of each call as it is noted.
  bool record(const std::function<void()>& forward, std::function<void(Call&)> met);

  [[nodiscard]] std::string_view why() const { return why_; }
  /// The user's line that was refused, where that is why.
  [[nodiscard]] Site refused_at() const { return refused_at_; }
  /// Without a history.
  [[nodiscard]] const Tensor& result() const { return result_; }
  /// Whether gradients were recorded. Then calls from `backward_from` on are those of backward, `output_gradient` is what it begins with,
  /// and `gradients` what it gives, undefined where there is none: each in memory of its own.
  [[nodiscard]] bool has_gradients() const { return has_gradients_; }
  [[nodiscard]] size_t backward_from() const { return backward_from_; }
  [[nodiscard]] const Tensor& output_gradient() const { return output_gradient_; }
  [[nodiscard]] const std::vector<Tensor>& gradients() const { return gradients_; }
  [[nodiscard]] std::vector<std::unique_ptr<Call>>& calls() { return calls_; }
  [[nodiscard]] const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }
  /// The number of the block that `address` lies in, or -1.
  [[nodiscard]] int find(const void* address) const;
  /// Of the block that a tensor lies in.
  [[nodiscard]] int find(const Tensor& x) const;
  /// For the kernels that note: one more call.
  void add(std::unique_ptr<Call> call) {
    calls_.push_back(std::move(call));
    if (met_) met_(*calls_.back());
  }

  [[nodiscard]] const kernels::Table& kernels() override;
  [[nodiscard]] Memory allocate(size_t bytes) override;
  void wrote(const void* data) override;
  [[noreturn]] void refuse(std::string_view op) override;

 private:
  /// Whether nobody holds a tensor of the trace but those that it is read for.
  bool keeps_nothing();
  void separate_gradients(int first_block, Site site);

  std::string why_;
  Site refused_at_ = Site::none();
  bool has_gradients_ = false;
  size_t backward_from_ = 0;
  Tensor result_, output_gradient_;
  std::vector<Tensor> gradients_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::function<void(Call&)> met_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::map<const char*, int> by_end_;  // the number of the block that ends there
};

}  // namespace tandem::compiling
