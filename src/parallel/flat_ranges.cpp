#include "parallel/flat_ranges.h"

#include <algorithm>
#include <cstring>

#include "autograd/autograd.h"
#include "base/error.h"
#include "comm/api/world.h"
#include "ops/creation.h"
#include "parallel/flat_layout.h"
#include "tensor/part.h"
#include "tensor/tensor_impl.h"

namespace tandem::parallel::detail {
namespace {

constexpr int64_t kAlignment = 16;  // elements

void move_into(const Tensor& place, const Tensor& parameter, Site site) {
  place.copy_(parameter.detach(), false, site);
  parameter.impl().replace_storage(place.impl());
}

}  // namespace

FlatRanges::FlatRanges(const char* op, std::vector<Tensor> parameters, const distributed::ProcessGroup& group, Site site)
    : parameters_(std::move(parameters)), places_(parameters_.size()), flat_places_(parameters_.size()), group_(group) {
  (void)comm::require_world(op);
  if (parameters_.empty()) fail("[", op, "] got an empty parameter list");
  const NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i];
    if (!parameter.defined()) fail("[", op, "] parameter ", i, " is undefined: run a first forward of lazy modules before");
    if (parameter.device() != parameters_[0].device())
      fail("[", op, "] parameters must be on one device, but parameter 0 is on ", parameters_[0].device(), " and parameter ", i, " on ",
           parameter.device());
    const auto same = [&](const Flat& flat) { return parameters_[flat.numbers[0]].dtype() == parameter.dtype(); };
    const auto found = std::find_if(flats_.begin(), flats_.end(), same);
    Flat& flat = found == flats_.end() ? flats_.emplace_back() : *found;
    flat.numbers.push_back(i);
  }
  for (size_t f = 0; f < flats_.size(); ++f) {
    Flat& flat = flats_[f];
    std::vector<int64_t> numels;
    for (const size_t i : flat.numbers) numels.push_back(parameters_[i].numel());
    const FlatLayout layout(numels, kAlignment, kAlignment, group_.size());
    flat.share = layout.share();
    const Tensor& first = parameters_[flat.numbers[0]];
    flat.all = zeros({layout.length()}, {.dtype = first.dtype(), .device = first.device()}, site);
    for (size_t k = 0; k < flat.numbers.size(); ++k) {
      const size_t i = flat.numbers[k];
      places_[i] = tandem::detail::part_of(flat.all, layout.offset(k), parameters_[i].sizes());
      move_into(places_[i], parameters_[i], site);
      const auto [begin, place, count] = layout.part(k, group_.rank());
      flat_places_[i] = {f, layout.offset(k), begin, count};
      if (count > 0) pieces_.push_back({i, begin, count, parameters_[i].detach().view({-1}).narrow(0, begin, count)});
    }
  }
  if (pieces_.empty()) pieces_.push_back({0, 0, 0, parameters_[0].detach().view({-1}).narrow(0, 0, 0)});
}

Tensor FlatRanges::own_gradient(const char* op, size_t i, Site site) const {
  const NoGradGuard no_grad;
  const Tensor& grad = parameters_[i].grad();
  if (!grad.defined()) return grad;
  const auto [flat, offset, begin, count] = flat_places_[i];
  const bool whole = grad.sizes() == parameters_[i].sizes();
  if (!whole && grad.numel() != count)
    fail("[", op, "] the gradient of parameter ", i, " has sizes ", grad.sizes(), ", but must have the parameter's ",
         parameters_[i].sizes(), ", or the ", count, " elements that are this rank's");
  const Tensor values = grad.detach().contiguous(site).view({-1}, site);
  return whole ? values.narrow(0, begin, count, site) : values;
}

void FlatRanges::lend_gradients(const char* op, Site site) const {
  // All of them are looked at, so that the ranks learn alike of one that does not fit.
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (flat_places_[i].count == 0) (void)own_gradient(op, i, site);
  for (const Piece& piece : pieces_) piece.values.grad() = own_gradient(op, piece.parameter, site);
}

void FlatRanges::take_gradients_back() const {
  for (const Piece& piece : pieces_) piece.values.grad() = Tensor();
}

void FlatRanges::check_places(const char* op, Site site) const {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i];
    if (parameter.impl().data == places_[i].impl().data) continue;
    if (parameter.device() != places_[i].device() || parameter.dtype() != places_[i].dtype() || parameter.sizes() != places_[i].sizes())
      fail("[", op, "] parameter ", i, " is now ", parameter.dtype(), " ", parameter.sizes(), " on ", parameter.device(), ", but was ",
           places_[i].dtype(), " ", places_[i].sizes(), " on ", places_[i].device(), ": move a module before its parameters are divided");
    move_into(places_[i], parameter, site);
  }
}

void FlatRanges::gather(Site site) const {
  const NoGradGuard no_grad;
  for (const Flat& flat : flats_)
    distributed::all_gather_into_tensor(flat.all, flat.all.narrow(0, flat.share * group_.rank(), flat.share), {.group = group_}, site);
  for (const Tensor& parameter : parameters_) parameter.impl().storage->bump_version();
}

namespace {

void put(std::string& bytes, const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }
template <class T>
void put(std::string& bytes, T value) {
  put(bytes, &value, sizeof value);
}

/// Entry after entry: the name's length, the name, the dtype, the number of dimensions, the sizes, the elements.
std::string packed(const StateDict& state) {
  std::string bytes;
  for (const auto& [name, value] : state) {
    const Tensor dense = value.detach().cpu().contiguous();
    put<int64_t>(bytes, static_cast<int64_t>(name.size()));
    put(bytes, name.data(), name.size());
    put<int64_t>(bytes, static_cast<int64_t>(dense.dtype()));
    put<int64_t>(bytes, dense.dim());
    for (const int64_t size : dense.sizes()) put<int64_t>(bytes, size);
    put(bytes, dense.data_ptr(), dense.nbytes());
  }
  return bytes;
}

StateDict unpacked(const char* at, const char* end) {
  const auto take = [&] {
    int64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  StateDict state;
  while (at < end) {
    const auto length = static_cast<size_t>(take());
    const std::string name(at, length);
    at += length;
    const auto dtype = static_cast<DType>(take());
    Shape sizes;
    sizes.resize(static_cast<size_t>(take()));
    for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = take();
    const Tensor value = empty(sizes, dtype);
    std::copy_n(at, value.nbytes(), static_cast<char*>(value.data_ptr()));
    at += value.nbytes();
    state[name] = value;
  }
  return state;
}

}  // namespace

std::vector<StateDict> gather_state_dicts(const StateDict& mine, const distributed::ProcessGroup& group, Site site) {
  const std::string bytes = packed(mine);
  std::vector<int64_t> lengths;
  for (const Tensor& one : distributed::all_gather(tensor({static_cast<int64_t>(bytes.size())}, kInt64), {.group = group}, site))
    lengths.push_back(one.item<int64_t>());
  const Tensor padded = zeros({*std::max_element(lengths.begin(), lengths.end())}, kUInt8, site);
  if (!bytes.empty()) std::memcpy(padded.data_ptr(), bytes.data(), bytes.size());
  const std::vector<Tensor> all = distributed::all_gather(padded, {.group = group}, site);
  std::vector<StateDict> states;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const char* first = static_cast<const char*>(all[rank].data_ptr());
    states.push_back(unpacked(first, first + lengths[rank]));
  }
  return states;
}

}  // namespace tandem::parallel::detail
