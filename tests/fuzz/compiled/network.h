// Random modules from tensor to tensor: layers one after another, some with others inside, all of whose tensors can be replaced.
#pragma once

#include <cstdint>
#include <vector>

#include "data/generator.h"
#include "tandem.h"

namespace fuzz {

namespace td = tandem;

/// Numbers of a program: all that is random follows from its seed.
class Draw {
 public:
  explicit Draw(uint64_t seed) : generator_(seed) {}
  uint64_t seed() { return generator_.next(); }
  int64_t below(int64_t bound) { return static_cast<int64_t>(generator_.below(static_cast<uint64_t>(bound))); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int64_t of) { return below(of) == 0; }

 private:
  td::data::Generator generator_;
};

/// What lies between two layers, but for the batch: features, or channels and places.
struct Form {
  int64_t features = 4;
  int64_t side = 0;  // 0: (n, features); else (n, features, side, side)
};

/// A module that computes with modules and tensors of its own, which anybody may put others in the place of.
struct Block : td::nn::Module {
  enum class Kind : uint8_t {
    Chain,     // its parts one after another
    Residual,  // x + part(x)
    Joined,    // part(x) and x beside each other
    Scaled,    // x times a parameter
    Product,   // x by a function of a parameter alone
    Masked,    // x by a parameter times a buffer
    Twice,     // part(part(x))
    Counted,   // adds to a buffer in each forward
    Softened,  // softmax(x) + x
  };

  Kind kind = Kind::Chain;
  std::vector<td::nn::AnyModule> parts;
  std::vector<td::Tensor> own, held;  // parameters and buffers

  void fields(td::nn::Fields& f) override;
  td::Tensor forward(const td::Tensor& x) override;
};

/// A network that takes `form`; the same for the same draws.
[[nodiscard]] Block make_network(Draw& draw, Form form);
/// A layer that keeps any form, and has no parameters.
[[nodiscard]] td::nn::AnyModule make_activation(Draw& draw);

}  // namespace fuzz
