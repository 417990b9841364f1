#include "ops/join.h"

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

/// The history of a joined tensor: as many inputs as there were tensors.
class JoinNode final : public autograd::Node {
 public:
  JoinNode(const char* name, Site site, std::vector<autograd::Edge> edges, Shape lengths, std::vector<DType> dtypes, int64_t dim)
      : Node(name, site, 1, edges.data(), static_cast<uint32_t>(edges.size())),
        edges_(std::move(edges)),
        lengths_(std::move(lengths)),
        dtypes_(std::move(dtypes)),
        dim_(dim) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    int64_t start = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      if (edges_[i]) results[i] = gradients[0].slice(dim_, start, start + lengths_[i]).to(dtypes_[i]);
      start += lengths_[i];
    }
  }

 private:
  std::vector<autograd::Edge> edges_;
  Shape lengths_;
  std::vector<DType> dtypes_;
  int64_t dim_;
};

}  // namespace

namespace {

Tensor join(const char* grad_fn, const std::vector<Tensor>& tensors, int64_t dim, Site site) {
  // PyTorch lets empty vectors join anything.
  const Tensor* first = nullptr;
  for (const Tensor& x : tensors) {
    if (x.dim() == 0) fail("[cat] zero-dimensional tensor (at position ", &x - tensors.data(), ") cannot be concatenated");
    if (!first && !(x.dim() == 1 && x.numel() == 0)) first = &x;
  }
  if (!first) first = &tensors[0];
  const int64_t at = wrap_dim(dim, first->dim());
  Shape sizes = first->sizes(), lengths;
  sizes[static_cast<size_t>(at)] = 0;
  DType dtype = tensors[0].dtype();
  bool recording = false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& x = tensors[i];
    if (x.device() != first->device()) {
      const Device a = first->device(), b = x.device();
      fail("Expected all tensors to be on the same device, but found at least two devices, ", a.is_cpu() ? b : a, " and ",
           a.is_cpu() ? a : b, "!");
    }
    dtype = promote_types(dtype, x.dtype());
    recording |= autograd::needs_grad(x);
    if (x.dim() == 1 && x.numel() == 0) {
      lengths.push_back(0);
      continue;
    }
    if (x.dim() != first->dim()) fail("[cat] Tensors must have same number of dimensions: got ", first->dim(), " and ", x.dim());
    for (int64_t d = 0; d < x.dim(); ++d)
      if (d != at && x.size(d) != first->size(d))
        fail("[cat] Sizes of tensors must match except in dimension ", at, ". Expected size ", first->size(d), " but got size ", x.size(d),
             " for tensor number ", i, " in the list.");
    lengths.push_back(x.size(at));
    sizes[static_cast<size_t>(at)] += x.size(at);
  }
  Tensor y = empty(sizes, {.dtype = dtype, .device = first->device()}, site);
  {
    const autograd::detail::NoRecord quiet;
    int64_t start = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].numel()) {
        const Tensor part = y.slice(at, start, start + lengths[i]);
        ops::kernels_of(y).copy(ops::launch(y, "cat", site), ops::out(part), ops::view(tensors[i]));
      }
      start += lengths[i];
    }
  }
  if (!recording) return y;
  std::vector<autograd::Edge> edges;
  std::vector<DType> dtypes;
  for (const Tensor& x : tensors) {
    edges.push_back(autograd::edge_of(x));
    dtypes.push_back(x.dtype());
  }
  autograd::set_history(y, Ref<autograd::Node>(new JoinNode(grad_fn, site, std::move(edges), lengths, std::move(dtypes), at)));
  return y;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int64_t dim, Site site) {
  if (tensors.empty()) fail("[cat] expected a non-empty list of Tensors");
  return join("CatBackward0", tensors, dim, site);
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t dim, Site site) {
  if (tensors.empty()) fail("[stack] stack expects a non-empty TensorList");
  const int64_t at = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> raised;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!(tensors[i].sizes() == tensors[0].sizes()))
      fail("[stack] stack expects each tensor to be equal size, but got ", tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(),
           " at entry ", i);
    raised.push_back(tensors[i].unsqueeze(at, site));
  }
  return join("StackBackward0", raised, at, site);
}

Tensor repeat(const Tensor& x, const Shape& repeats, Site site) {
  if (static_cast<int64_t>(repeats.size()) < x.dim())
    fail("[repeat] Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: ", repeats, " for sizes ",
         x.sizes());
  // A new dimension before each old one repeats it; joining the two gives the result.
  const size_t lead = repeats.size() - x.sizes().size();
  Shape split, expanded, joined;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) fail("[repeat] Trying to create tensor with negative dimension ", repeats[i]);
    const int64_t size = i < lead ? 1 : x.sizes()[i - lead];
    split.push_back(1);
    split.push_back(size);
    expanded.push_back(repeats[i]);
    expanded.push_back(size);
    joined.push_back(repeats[i] * size);
  }
  return x.reshape(split, site).expand(expanded, site).reshape(joined, site);
}

Tensor flip(const Tensor& x, const Shape& dims, Site site) {
  Tensor y = x;
  for (const int64_t dim : dims) {
    const int64_t at = wrap_dim(dim, x.dim());
    const int64_t size = x.dim() ? x.size(at) : 1;
    if (size > 1) y = y.index_select(at, arange(size - 1, -1, -1, {.device = x.device()}, site), site);
  }
  return y.is_same(x) ? x.clone(site) : y;
}

Tensor Tensor::repeat(const Shape& repeats, Site site) const { return tandem::repeat(*this, repeats, site); }
Tensor Tensor::flip(const Shape& dims, Site site) const { return tandem::flip(*this, dims, site); }

}  // namespace tandem
