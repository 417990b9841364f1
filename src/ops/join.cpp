#include "ops/join.h"

#include "autograd/history.h"
#include "base/error.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

/// The history of a joined tensor: as many inputs as there were tensors.
class JoinNode final : public autograd::Node {
 public:
  JoinNode(const char* name, Site site, std::vector<autograd::Edge> edges, std::vector<Shape> sizes, std::vector<DType> dtypes, int64_t dim)
      : Node(name, site, 1, edges.data(), static_cast<uint32_t>(edges.size())),
        edges_(std::move(edges)),
        sizes_(std::move(sizes)),
        dtypes_(std::move(dtypes)),
        dim_(dim) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    int64_t start = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      // An empty vector may have joined tensors of more dimensions.
      const int64_t length = sizes_[i].numel() == 0 && sizes_[i].size() == 1 ? 0 : sizes_[i][static_cast<size_t>(dim_)];
      if (edges_[i]) {
        results[i] = gradients[0].slice(dim_, start, start + length).to(dtypes_[i]);
        if (results[i].dim() != static_cast<int64_t>(sizes_[i].size())) results[i] = results[i].reshape(sizes_[i]);
      }
      start += length;
    }
  }

 private:
  std::vector<autograd::Edge> edges_;
  std::vector<Shape> sizes_;
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
           a.is_cpu() ? a : b, "! Move them to one with to(device)");
    }
    dtype = promote_types(dtype, x.dtype());
    recording |= autograd::needs_grad(x);
    if (x.dim() == 1 && x.numel() == 0) {
      lengths.push_back(0);
      continue;
    }
    if (x.dim() != first->dim())
      fail("[cat] Tensors must have same number of dimensions: got ", first->dim(), " and ", x.dim(), "; unsqueeze one, or use stack");
    for (int64_t d = 0; d < x.dim(); ++d)
      if (d != at && x.size(d) != first->size(d))
        fail("[cat] Sizes of tensors must match except in dimension ", at, ". Expected size ", first->size(d), " but got size ", x.size(d),
             " for tensor number ", i, " in the list. Cut or pad it, or choose another dimension");
    lengths.push_back(x.size(at));
    sizes[static_cast<size_t>(at)] += x.size(at);
  }
  Tensor y = empty(sizes, {.dtype = dtype, .device = first->device()}, site);
  std::vector<kernels::View> filled;
  for (const Tensor& x : tensors)
    if (x.numel()) filled.push_back(ops::view(x));
  if (filled.size() == 1) ops::launch(y, "cat", site, &kernels::Table::copy, y, filled[0]);
  else ops::launch(y, "cat", site, &kernels::Table::cat, y, filled, static_cast<int32_t>(at));
  if (!recording) return y;
  std::vector<autograd::Edge> edges;
  std::vector<DType> dtypes;
  std::vector<Shape> parts;
  for (const Tensor& x : tensors) {
    edges.push_back(autograd::edge_of(x));
    parts.push_back(x.sizes());
    dtypes.push_back(x.dtype());
  }
  autograd::set_history(y, Ref<autograd::Node>(new JoinNode(grad_fn, site, std::move(edges), std::move(parts), std::move(dtypes), at)));
  return y;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int64_t dim, Site site) {
  if (const ops::Cast cast("cat", site, tensors); cast) return cat(cast(tensors), dim, site);
  if (tensors.empty()) fail<ValueError>("[cat] expected a non-empty list of Tensors: give one at least");
  return join("CatBackward0", tensors, dim, site);
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t dim, Site site) {
  if (const ops::Cast cast("stack", site, tensors); cast) return stack(cast(tensors), dim, site);
  if (tensors.empty()) fail("[stack] stack expects a non-empty TensorList: give one at least");
  const int64_t at = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> raised;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!(tensors[i].sizes() == tensors[0].sizes()))
      fail("[stack] stack expects each tensor to be equal size, but got ", tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(),
           " at entry ", i, "; reshape them, or use cat");
    raised.push_back(tensors[i].unsqueeze(at, site));
  }
  return join("StackBackward0", raised, at, site);
}

Tensor repeat(const Tensor& x, const Shape& repeats, Site site) {
  if (static_cast<int64_t>(repeats.size()) < x.dim())
    fail("[repeat] Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: ", repeats, " for sizes ",
         x.sizes(), ": give a number for each dimension");
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
    int64_t total;
    if (__builtin_mul_overflow(repeats[i], size, &total)) fail("[repeat] ", repeats[i], " times ", size, " elements are too many");
    joined.push_back(total);
  }
  // A copy always, also where the strides would allow a view.
  return autograd::called(x.reshape(split, site).expand(expanded, site).clone(site).view(joined, site), "RepeatBackward0");
}

Tensor tile(const Tensor& x, const Shape& dims, Site site) {
  Shape repeats = dims;
  while (repeats.size() < x.sizes().size()) repeats.insert(0, 1);
  return repeat(x, repeats, site);
}

namespace {

/// `tensors` with at least some dimensions, joined.
Tensor join_raised(const char* op, const std::vector<Tensor>& tensors, Tensor (*raise)(const Tensor&, Site), int64_t dim, Site site) {
  if (tensors.empty()) fail("[", op, "] ", op, " expects a non-empty TensorList");
  std::vector<Tensor> raised;
  for (const Tensor& x : tensors) raised.push_back(raise(x, site));
  return cat(raised, dim, site);
}

}  // namespace

Tensor hstack(const std::vector<Tensor>& tensors, Site site) {
  return join_raised("hstack", tensors, atleast_1d, !tensors.empty() && tensors[0].dim() > 1 ? 1 : 0, site);
}
Tensor vstack(const std::vector<Tensor>& tensors, Site site) { return join_raised("vstack", tensors, atleast_2d, 0, site); }
Tensor dstack(const std::vector<Tensor>& tensors, Site site) { return join_raised("dstack", tensors, atleast_3d, 2, site); }
Tensor column_stack(const std::vector<Tensor>& tensors, Site site) {
  return join_raised(
      "column_stack", tensors,
      [](const Tensor& x, Site at) {
        return x.dim() < 2 ? x.reshape({x.numel(), 1}, at) : x;
      },
      1, site);
}

Tensor block_diag(const std::vector<Tensor>& tensors, Site site) {
  if (tensors.empty()) return empty({1, 0}, {}, site);
  int64_t columns = 0, before = 0;
  for (const Tensor& x : tensors) {
    if (x.dim() > 2) fail("[block_diag] Input tensors must have 2 or fewer dimensions. Got ", x.dim());
    columns += atleast_2d(x, site).size(1);
  }
  // Each row of blocks: zeros, the block, zeros.
  std::vector<Tensor> rows;
  for (const Tensor& x : tensors) {
    const Tensor block = atleast_2d(x, site);
    const auto nothing = [&](int64_t width) { return zeros({block.size(0), width}, {.dtype = x.dtype(), .device = x.device()}, site); };
    rows.push_back(cat({nothing(before), block, nothing(columns - before - block.size(1))}, 1, site));
    before += block.size(1);
  }
  return cat(rows, 0, site);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing, Site site) {
  if (tensors.empty()) fail("[meshgrid] meshgrid expects a non-empty TensorList");
  if (indexing != "ij" && indexing != "xy")
    fail("[meshgrid] torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  Shape sizes;
  for (const Tensor& x : tensors) {
    if (x.dim() > 1) fail("[meshgrid] torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", x.sizes());
    if (x.dtype() != tensors[0].dtype()) fail("[meshgrid] torch.meshgrid expects all tensors to have the same dtype");
    if (x.device() != tensors[0].device()) fail("[meshgrid] torch.meshgrid expects all tensors to have the same device");
    sizes.push_back(x.numel());
  }
  const bool swapped = indexing == "xy" && tensors.size() > 1;
  std::vector<Tensor> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Shape own = sizes;
    for (size_t d = 0; d < own.size(); ++d) own[d] = d == i ? sizes[d] : 1;
    const Tensor grid = tensors[i].reshape(own, site).expand(sizes, site);
    grids.push_back(swapped ? grid.transpose(0, 1, site) : grid);
  }
  return grids;
}

Tensor cartesian_prod(const std::vector<Tensor>& tensors, Site site) {
  for (const Tensor& x : tensors)
    if (x.dim() != 1) fail("[cartesian_prod] Expect a 1D vector, but got shape ", x.sizes());
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& grid : meshgrid(tensors, "ij", site)) columns.push_back(grid.reshape({-1}, site));
  return stack(columns, 1, site);
}

Tensor Tensor::repeat(const Shape& repeats, Site site) const { return tandem::repeat(*this, repeats, site); }
Tensor Tensor::tile(const Shape& dims, Site site) const { return tandem::tile(*this, dims, site); }

}  // namespace tandem
