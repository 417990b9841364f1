#include "parallel/agreement.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "parallel/parcel.h"

namespace tandem::parallel::detail {
namespace {

using distributed::ProcessGroup;

/// FNV-1a: the same in every build.
uint64_t hash(std::string_view text) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return sum;
}

/// What ranks compare of a tensor: its name, dtype, requires_grad, number of dimensions and sizes.
constexpr size_t kWords = 4 + kMaxDims;

std::vector<int64_t> words_of(const NamedTensors& tensors) {
  std::vector<int64_t> words;
  words.reserve(tensors.size() * kWords);
  for (const auto& [name, tensor] : tensors) {
    const Shape& sizes = tensor.sizes();
    words.push_back(static_cast<int64_t>(hash(name)));
    words.push_back(static_cast<int64_t>(tensor.dtype()));
    words.push_back(tensor.requires_grad());
    words.push_back(static_cast<int64_t>(sizes.size()));
    for (size_t d = 0; d < kMaxDims; ++d) words.push_back(d < sizes.size() ? sizes[d] : -1);
  }
  return words;
}

/// Every rank's words, in the order of the ranks.
std::vector<std::vector<int64_t>> gather(const std::vector<int64_t>& mine, const ProcessGroup& group, Site site) {
  std::vector<std::vector<int64_t>> all;
  for (const Tensor& one : distributed::all_gather(tensor(mine, kInt64), {.group = group}, site)) {
    const auto* words = one.data_ptr<int64_t>();
    all.emplace_back(words, words + one.numel());
  }
  return all;
}

std::string text_of(const int64_t* words) {
  Shape sizes;
  sizes.resize(static_cast<size_t>(words[3]));
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = words[4 + d];
  return str(static_cast<DType>(words[1]), " ", sizes, words[2] ? "" : " without requires_grad");
}

}  // namespace

// A number and a hash first, which are all that is sent where all is well.
void check_alike(const char* op, const char* what, const NamedTensors& tensors, const ProcessGroup& group, Site site) {
  const std::vector<int64_t> mine = words_of(tensors);
  const std::string_view bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(int64_t));
  const auto sums = gather({static_cast<int64_t>(tensors.size()), static_cast<int64_t>(hash(bytes))}, group, site);
  if (std::all_of(sums.begin(), sums.end(), [&](const auto& sum) { return sum == sums[0]; })) return;
  constexpr const char* kHint = ". Every rank must make the same module";
  for (size_t rank = 1; rank < sums.size(); ++rank)
    if (sums[rank][0] != sums[0][0])
      fail("[", op, "] the module has ", sums[0][0], " ", what, "s on rank 0, but ", sums[rank][0], " on rank ", rank, kHint);
  const auto all = gather(mine, group, site);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t* first = &all[0][i * kWords];
    for (size_t rank = 1; rank < all.size(); ++rank) {
      const int64_t* other = &all[rank][i * kWords];
      if (std::equal(first, first + kWords, other)) continue;
      if (first[0] != other[0])  // only this rank's own name is known here: another rank is named, with another one
        fail("[", op, "] ", what, " ", i, ", '", tensors[i].first, "' on this rank, has another name on rank ",
             static_cast<uint64_t>(mine[i * kWords]) == static_cast<uint64_t>(first[0]) ? rank : 0, kHint);
      fail("[", op, "] ", what, " '", tensors[i].first, "' is ", text_of(first), " on rank 0, but ", text_of(other), " on rank ", rank,
           kHint);
    }
  }
}

void broadcast_values(const std::vector<Tensor>& tensors, int root, const ProcessGroup& group, Site site, const std::string& label) {
  const NoGradGuard no_grad;
  const int source = group.ranks()[static_cast<size_t>(root)];  // its rank in the whole program, which collectives take
  const bool is_source = group.rank() == root;
  std::vector<Tensor> small;
  for (const Tensor& tensor : tensors) {
    if (tensor.nbytes() <= kParcelItem) small.push_back(tensor.detach());
    else if (tensor.is_contiguous()) distributed::broadcast(tensor.detach(), source, {.group = group, .label = label}, site);
    else {
      const Tensor dense = tensor.detach().contiguous(site);
      distributed::broadcast(dense, source, {.group = group, .label = label}, site);
      if (!is_source) tensor.detach().copy_(dense, false, site);
    }
  }
  if (small.empty()) return;
  const Parcel parcel(small, site, is_source);
  distributed::broadcast(parcel.packed(), source, {.group = group, .label = label}, site);
  if (is_source) return;
  const std::vector<Tensor> received = parcel.unpacked_on(small[0].device(), site);
  for (size_t i = 0; i < small.size(); ++i) small[i].copy_(received[i], false, site);
}

void SharedBuffers::send(bool training, int root, const distributed::ProcessGroup& group, Site site, const std::string& label) {
  if (!buffers_.empty() && (training || stale_)) broadcast_values(buffers_, root, group, site, label);
  stale_ = training;
}

}  // namespace tandem::parallel::detail
