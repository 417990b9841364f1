// Parameters one after another in flat memory, which the ranks divide into ranges of the same length. For the library.
#pragma once

#include <vector>

#include "comm/api/distributed.h"
#include "tensor/state_dict.h"
#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// The part of a parameter that lies in this rank's range.
struct Piece {
  size_t parameter = 0;          // its number
  int64_t begin = 0, count = 0;  // its elements, in row-major order
  Tensor values;                 // (count), the parameter's own memory
};

/// Flat memory for parameters of one device: one piece of memory for each dtype. The parameters are moved into it.
class FlatRanges {
 public:
  FlatRanges(const char* op, std::vector<Tensor> parameters, const distributed::ProcessGroup& group, Site site);

  [[nodiscard]] const std::vector<Tensor>& parameters() const { return parameters_; }
  /// Where a parameter's elements lie: in which piece of flat memory, and from which element on; and which of them are in this rank's
  /// range.
  struct Place {
    size_t flat = 0;
    int64_t offset = 0;
    int64_t begin = 0, count = 0;
  };
  [[nodiscard]] const Place& place(size_t parameter) const { return flat_places_[parameter]; }
  [[nodiscard]] size_t flat_count() const { return flats_.size(); }
  /// Elements of each rank's range.
  [[nodiscard]] int64_t share(size_t flat) const { return flats_[flat].share; }
  [[nodiscard]] DType dtype(size_t flat) const { return flats_[flat].all.dtype(Site::none()); }
  /// This rank's; at least one, which may be empty.
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  /// What is this rank's of a parameter's `.grad`, which has all elements or these alone; undefined where there is none.
  [[nodiscard]] Tensor own_gradient(const char* op, size_t parameter, Site site) const;
  /// Each piece's gradient is what is this rank's of the parameter's.
  void lend_gradients(const char* op, Site site) const;
  void take_gradients_back() const;
  /// Error where a parameter was moved to another device or dtype; brings back those whose memory was replaced.
  void check_places(const char* op, Site site) const;
  /// Every rank gets the others' ranges of the parameters. A collective for each dtype.
  void gather(Site site) const;

 private:
  struct Flat {
    Tensor all;         // (ranks * share)
    int64_t share = 0;  // elements of a rank
    std::vector<size_t> numbers;
  };
  std::vector<Tensor> parameters_;
  std::vector<Tensor> places_;  // where each parameter's elements belong, in its sizes
  std::vector<Place> flat_places_;
  std::vector<Flat> flats_;
  std::vector<Piece> pieces_;
  distributed::ProcessGroup group_;
};

/// Every rank's dictionary, on the CPU, in the order of the ranks.
[[nodiscard]] std::vector<StateDict> gather_state_dicts(const StateDict& mine, const distributed::ProcessGroup& group, Site site);

}  // namespace tandem::parallel::detail
