#include "autograd/history.h"

#include "autograd/hooks.h"
#include "base/error.h"
#include "ops/view.h"
#include "runtime/stream.h"

namespace tandem::autograd {
namespace {

runtime::StreamRecord* stream_of(const Tensor& x) { return x.is_cuda() ? cuda::current_stream(x.device()).record() : nullptr; }

/// The history of a tensor of which a view was changed in place: its gradient goes to its old history with the view's part zeroed, and that
/// part to the change's own node.
class CopySlices final : public Node {
 public:
  CopySlices(Site site, Edge base, Ref<Node> change, const TensorImpl& base_impl, const TensorImpl& view)
      : Node("CopySlices", site, 1, edges_, 2),
        base_sizes_(base_impl.sizes),
        base_strides_(base_impl.strides),
        sizes_(view.sizes),
        strides_(view.strides),
        offset_(view.offset - base_impl.offset) {
    edges_[0] = std::move(base);
    edges_[1] = Edge();
    edges_[1].node = std::move(change);
  }

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    const Tensor whole = gradients[0].contiguous();
    results[1] = whole.as_strided(sizes_, strides_, offset_).clone();
    if (!edges_[0]) return;
    const Tensor rest = whole.clone();
    rest.as_strided(sizes_, strides_, offset_).zero_();
    results[0] = rest;
  }

 private:
  Edge edges_[2];
  Shape base_sizes_, base_strides_, sizes_, strides_;
  int64_t offset_;
};

/// A view's history made anew from its base, after the base's history was rewritten.
Ref<Node> view_of_base(const Tensor& base, const TensorImpl& view, Site site) {
  auto backward = [sizes = view.sizes, strides = view.strides, base_sizes = base.sizes(), base_strides = base.strides(),
                   offset = view.offset - base.impl().offset](const Tensor& g) {
    int64_t span = 1;  // the memory that the base extends over
    for (size_t d = 0; d < base_sizes.size(); ++d) span += (base_sizes[d] - 1) * base_strides[d];
    const Tensor memory(TensorImpl::make({base_sizes.numel() ? span : 0}, g.dtype(), g.device(), false, Site::here()));
    memory.zero_();
    memory.as_strided(sizes, strides, offset).copy_(g);
    return memory.as_strided(base_sizes, base_strides, 0);
  };
  auto* node = new FunctionNode<1, decltype(backward)>("AsStridedBackward0", site, std::move(backward));
  Ref<Node> held(node);
  node->edges()[0] = edge_of(base);
  node->stream = stream_of(base);
  return held;
}

}  // namespace

Edge edge_of(const Tensor& x) {
  Edge edge;
  if (!x.defined()) return edge;
  TensorImpl& impl = x.impl();
  if (impl.base && impl.seen_epoch != impl.base->history_epoch) {
    const Tensor base(impl.base);
    if (base.impl().needs_grad()) {
      const Node* known = impl.grad_fn ? impl.grad_fn.get() : base.grad_fn().get();
      set_history(x, view_of_base(base, impl, known ? known->site() : Site::here()));
    }
    impl.seen_epoch = impl.base->history_epoch;
  }
  if (impl.grad_fn) {
    edge.node = impl.grad_fn;
    edge.output_nr = impl.output_nr;
  } else if (impl.requires_grad) {
    edge.leaf = x.ref();
  }
  return edge;
}

void set_history(const Tensor& result, Ref<Node> node, uint32_t output_nr) {
  TensorImpl& impl = result.impl();
  if (impl.device.is_cuda() && !node->stream) node->stream = stream_of(result);
  impl.grad_fn = std::move(node);
  impl.output_nr = output_nr;
  if (!impl.base) impl.view_origin = ViewOrigin::Recorded;  // an operation that made it as a view, unrecorded, has told its history now
  AutogradExtras* const extras = impl.extras.get();
  if (extras && extras->retained) [[unlikely]] {
    extras->retained->forget();
    extras->retained = Ref<RetainedGrad>(new RetainedGrad(impl));
    impl.grad_fn->make_hooks().retain(output_nr, extras->retained);
  }
}

Tensor called(Tensor result, const char* name) {
  if (result.impl().grad_fn) result.impl().grad_fn->rename(name);
  return result;
}

void set_history_in_place(const Tensor& changed, Ref<Node> node) {
  TensorImpl& impl = changed.impl();
  if (!impl.base) {
    ++impl.history_epoch;
    set_history(changed, std::move(node));
    return;
  }
  const Tensor base(impl.base);
  if (!base.is_contiguous())
    fail("an in-place change of a view needs a contiguous base to be differentiated, but its strides are ", base.strides(),
         "; use the operation that is not in place");
  node->stream = stream_of(changed);
  const Site site = node->site();
  ++base.impl().history_epoch;
  set_history(base, Ref<Node>(new CopySlices(site, edge_of(base), std::move(node), base.impl(), impl)));
  set_history(changed, view_of_base(base, impl, site));
  impl.seen_epoch = base.impl().history_epoch;
}

namespace {

/// PyTorch's words.
[[noreturn]] void fail_unrecorded_view(const char* op, const TensorImpl& view) {
  if (view.view_origin == ViewOrigin::CustomFunction && view.grad_fn)
    fail(
        '[', op, "] Output ", view.output_nr, " of ", view.grad_fn->name(),
        " is a view and is being modified inplace. This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to "
        "incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.");
  const bool inference = view.view_origin == ViewOrigin::Inference || view.view_origin == ViewOrigin::InferenceOfGraph;
  fail('[', op, "] A view was created in ", inference ? "inference" : "no_grad", " mode and is being modified inplace ",
       inference ? "in normal mode" : "with grad mode enabled",
       ". Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and "
       "the inplace either both inside the ",
       inference ? "inference_mode" : "no_grad",
       " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).");
}

}  // namespace

void check_in_place(const char* op, const Tensor& x, bool operand_requires_grad) {
  const TensorImpl& impl = x.impl();
  if (impl.inference && !detail::inference_mode) [[unlikely]]
    fail('[', op,
         "] Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal tensor before "
         "doing inplace update.");
  if (!detail::grad_enabled) return;
  // Where nothing else sees the memory, no other history has to learn of the change.
  if (impl.view_origin != ViewOrigin::Recorded && impl.storage->use_count() > 1 &&
      (impl.view_origin == ViewOrigin::NoGradOfGraph || impl.view_origin == ViewOrigin::InferenceOfGraph || operand_requires_grad ||
       impl.needs_grad()))
    fail_unrecorded_view(op, impl);
  const auto is_required_leaf = [](const TensorImpl& leaf) { return leaf.requires_grad && !leaf.grad_fn; };
  if (is_required_leaf(impl))
    fail("[", op, "] a leaf Variable that requires grad is being used in an in-place operation. Hint: ",
         Hint("change it inside a NoGradGuard, or work on a clone()", "change it inside of no_grad(), or work on a clone()"));
  // The leaf may be a view itself: then the base has no history either.
  if (impl.base && (is_required_leaf(*impl.base) || (impl.needs_grad() && !impl.base->grad_fn)))
    fail("[", op, "] a view of a leaf Variable that requires grad is being used in an in-place operation. Hint: ",
         Hint("change it inside a NoGradGuard", "change it inside of no_grad()"));
}

void fail_released(const Node& node) {
  fail("Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed), at ",
       node.name(), " recorded at ", node.site().file, ":", node.site().line,
       ". Saved intermediate values of the graph are freed when you call .backward() or grad(). ",
       Hint("Specify retain_graph = true if you need to backward through the graph a second time",
            "Specify retain_graph=True if you need to backward through the graph a second time"));
}

}  // namespace tandem::autograd
