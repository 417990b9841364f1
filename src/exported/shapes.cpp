// Operations that give the same elements in other sizes, joined, parted or copied.
#include "exported/call.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/moving.h"
#include "ops/padding.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem::exported {
namespace {

/// view, reshape and the like. A view that strides refuse is copied: which strides there are, PyTorch's back ends decide.
void sized(Call& call) {
  if (const auto dtype = call.dtype()) return call.give(call.tensor("self").view(*dtype, call.site()));
  call.give(call.tensor("self").reshape(call.ints(call.has("shape") ? "shape" : "size"), call.site()));
}
void sized_as(Call& call) { call.give(call.tensor("self").reshape(call.tensor("other").sizes(), call.site())); }
void flat(Call& call) { call.give(call.tensor("self").flatten(call.integer("start_dim", 0), call.integer("end_dim", -1), call.site())); }
void unflat(Call& call) { call.give(call.tensor("self").unflatten(call.integer("dim"), call.ints("sizes"), call.site())); }
void permuted(Call& call) { call.give(call.tensor("self").permute(call.ints("dims"), call.site())); }
void transposed(Call& call) { call.give(call.tensor("self").transpose(call.integer("dim0"), call.integer("dim1"), call.site())); }
void turned(Call& call) { call.give(call.tensor("self").t(call.site())); }
void turned_last(Call& call) { call.give(call.tensor("self").transpose(-2, -1, call.site())); }
void moved(Call& call) { call.give(call.tensor("self").movedim(call.ints("source"), call.ints("destination"), call.site())); }
void squeezed(Call& call) {
  const Tensor x = call.tensor("self");
  call.give(call.has("dim") ? x.squeeze(call.ints("dim"), call.site()) : x.squeeze(call.site()));
}
void unsqueezed(Call& call) { call.give(call.tensor("self").unsqueeze(call.integer("dim"), call.site())); }
void expanded(Call& call) { call.give(call.tensor("self").expand(call.ints("size"), call.site())); }
void expanded_as(Call& call) { call.give(call.tensor("self").expand(call.tensor("other").sizes(), call.site())); }
void sliced(Call& call) {
  call.give(call.tensor("self").slice(call.integer("dim", 0), call.integer_or_none("start"), call.integer_or_none("end"),
                                      call.integer("step", 1), call.site()));
}
void selected(Call& call) { call.give(call.tensor("self").select(call.integer("dim"), call.integer("index"), call.site())); }
void narrowed(Call& call) {
  call.give(call.tensor("self").narrow(call.integer("dim"), call.integer("start"), call.integer("length"), call.site()));
}
void on_diagonal(Call& call) {
  call.give(call.tensor("self").diagonal(call.integer("offset", 0), call.integer("dim1", 0), call.integer("dim2", 1), call.site()));
}
void windows(Call& call) {
  call.give(call.tensor("self").unfold(call.integer("dimension"), call.integer("size"), call.integer("step"), call.site()));
}
void strided(Call& call) {
  call.give(call.tensor("self").as_strided(call.ints("size"), call.ints("stride"), call.integer_or_none("storage_offset"), call.site()));
}

void parted(Call& call) {
  const Tensor x = call.tensor("self");
  const int64_t dim = call.integer("dim", 0);
  if (call.has("split_sizes")) return call.give_all(x.split(call.ints("split_sizes"), dim, call.site()));
  const Shape size = call.ints("split_size");
  call.give_all(size.size() == 1 ? x.split(size[0], dim, call.site()) : x.split(size, dim, call.site()));
}
void chunked(Call& call) { call.give_all(call.tensor("self").chunk(call.integer("chunks"), call.integer("dim", 0), call.site())); }
void unbound(Call& call) { call.give_all(call.tensor("self").unbind(call.integer("dim", 0), call.site())); }
void joined(Call& call) { call.give(cat(call.tensors("tensors"), call.integer("dim", 0), call.site())); }
void stacked(Call& call) { call.give(stack(call.tensors("tensors"), call.integer("dim", 0), call.site())); }
void grid(Call& call) { call.give_all(meshgrid(call.tensors("tensors"), call.text("indexing", "ij"), call.site())); }

void repeated(Call& call) { call.give(call.tensor("self").repeat(call.ints("repeats"), call.site())); }
void tiled(Call& call) { call.give(call.tensor("self").tile(call.ints("dims"), call.site())); }
void flipped(Call& call) { call.give(flip(call.tensor("self"), call.ints("dims"), call.site())); }
void rolled(Call& call) { call.give(roll(call.tensor("self"), call.ints("shifts"), call.ints("dims", {}), call.site())); }
void each_repeated(Call& call) {
  const auto dim = call.integer_or_none("dim"), size = call.integer_or_none("output_size");
  const Tensor x = call.tensor("self");
  if (call.is_tensor("repeats")) return call.give(repeat_interleave(x, call.tensor("repeats"), dim, size, call.site()));
  call.give(repeat_interleave(x, call.integer("repeats"), dim, size, call.site()));
}

/// Converts as _to_copy, to.dtype and the like say. Devices are passed over: all is where the module is.
void converted(Call& call) {
  const Tensor x = call.tensor("self");
  const auto dtype = call.has("other") ? std::optional(call.tensor("other").dtype()) : call.dtype();
  call.give(dtype && *dtype != x.dtype() ? x.to(*dtype, {}, call.site()) : x);
}
void copied(Call& call) { call.give(call.tensor("self").clone(call.site())); }
void same(Call& call) { call.give(call.tensor("self")); }
void dense(Call& call) { call.give(call.tensor("self").contiguous(call.site())); }
void detached(Call& call) { call.give(call.tensor("self").detach()); }
/// copy: the values of `src` in the sizes and the dtype of `self`.
void copied_into(Call& call) {
  const Tensor to = call.tensor("self");
  call.give(call.tensor("src").to(to.device(), to.dtype(), {}, call.site()).expand(to.sizes(), call.site()));
}

void padded(Call& call) {
  const std::string mode = call.text("mode", "constant");
  call.give(pad(call.tensor("self"), call.ints("pad"), mode.c_str(), call.number_or_none("value"), call.site()));
}
void padded_by(Call& call, const char* mode) { call.give(pad(call.tensor("self"), call.ints("padding"), mode, {}, call.site())); }
void reflected(Call& call) { padded_by(call, "reflect"); }
void replicated(Call& call) { padded_by(call, "replicate"); }

constexpr OperatorRow kRows[] = {
    {"_reshape_alias", sized, true},
    {"_to_copy", converted, true},
    {"_unsafe_view", sized, true},
    {"alias", same, true},
    {"as_strided", strided, true},
    {"cat", joined, true},
    {"chunk", chunked, true},
    {"clone", copied},
    {"concat", joined, true},
    {"constant_pad_nd", padded, true},
    {"contiguous", dense, true},
    {"copy", copied_into, true},
    {"detach", detached, true},
    {"diagonal", on_diagonal, true},
    {"expand", expanded, true},
    {"expand_as", expanded_as, true},
    {"flatten", flat, true},
    {"flip", flipped},
    {"lift_fresh", same, true},
    {"lift_fresh_copy", copied},
    {"mT", turned_last, true},
    {"meshgrid", grid, true},
    {"movedim", moved, true},
    {"narrow", narrowed, true},
    {"numpy_T", turned, true},
    {"pad", padded, true},
    {"permute", permuted, true},
    {"reflection_pad1d", reflected, true},
    {"reflection_pad2d", reflected, true},
    {"reflection_pad3d", reflected, true},
    {"repeat", repeated, true},
    {"repeat_interleave", each_repeated, true},
    {"replication_pad1d", replicated, true},
    {"replication_pad2d", replicated, true},
    {"replication_pad3d", replicated, true},
    {"reshape", sized, true},
    {"reshape_as", sized_as, true},
    {"roll", rolled, true},
    {"select", selected, true},
    {"slice", sliced, true},
    {"split", parted, true},
    {"split_with_sizes", parted, true},
    {"squeeze", squeezed, true},
    {"stack", stacked},
    {"t", turned, true},
    {"tile", tiled, true},
    {"to", converted, true},
    {"transpose", transposed, true},
    {"type_as", converted, true},
    {"unbind", unbound, true},
    {"unflatten", unflat, true},
    {"unfold", windows, true},
    {"unsafe_chunk", chunked, true},
    {"unsafe_split", parted, true},
    {"unsqueeze", unsqueezed, true},
    {"view", sized, true},
    {"view_as", sized_as, true},
};

}  // namespace

std::span<const OperatorRow> shape_operators() { return kRows; }

}  // namespace tandem::exported
