#include "golden.h"

namespace golden {
namespace {

using Views = std::vector<Tensor>;

void add_views(Table& table) {
  table.add("view(input, *shape)", [](Call& c) { return c.input().view(c.ints("shape")); });
  table.add("view_as(input, other)", [](Call& c) { return c.input().view_as(c.tensor("other")); });
  table.add("reshape(input, *shape)", [](Call& c) { return reshape(c.input(), c.ints("shape")); });
  table.add("reshape_as(input, other)", [](Call& c) { return c.input().reshape_as(c.tensor("other")); });
  table.add("ravel(input)", [](Call& c) { return ravel(c.input()); });
  table.add("flatten(input, start_dim=0, end_dim=-1)",
            [](Call& c) { return flatten(c.input(), c.integer("start_dim"), c.integer("end_dim")); });
  table.add("unflatten(input, dim, sizes: ints)", [](Call& c) { return unflatten(c.input(), c.integer("dim"), c.ints("sizes")); });
  table.add("squeeze(input)", [](Call& c) { return squeeze(c.input()); });
  table.add("squeeze(input, dim: int)", [](Call& c) { return squeeze(c.input(), c.integer("dim")); });
  table.add("squeeze(input, dim: ints)", [](Call& c) { return squeeze(c.input(), c.ints("dim")); });
  table.add("unsqueeze(input, dim)", [](Call& c) { return unsqueeze(c.input(), c.integer("dim")); });
  table.add("transpose(input, dim0, dim1)", [](Call& c) { return transpose(c.input(), c.integer("dim0"), c.integer("dim1")); });
  table.add("t(input)", [](Call& c) { return t(c.input()); });
  table.add("permute(input, *dims)", [](Call& c) { return permute(c.input(), c.ints("dims")); });
  table.add("movedim(input, source: ints, destination: ints)",
            [](Call& c) { return movedim(c.input(), c.ints("source"), c.ints("destination")); });
  table.add("expand(input, *size)", [](Call& c) { return c.input().expand(c.ints("size")); });
  table.add("expand_as(input, other)", [](Call& c) { return c.input().expand_as(c.tensor("other")); });
  table.add("broadcast_to(input, size: ints)", [](Call& c) { return broadcast_to(c.input(), c.ints("size")); });
  table.add("broadcast_tensors(*tensors)", [](Call& c) { return broadcast_tensors(c.tensors("tensors")); });
  table.add("narrow(input, dim, start: Tensor, length)",
            [](Call& c) { return narrow(c.input(), c.integer("dim"), c.tensor("start"), c.integer("length")); });
  table.add("narrow(input, dim, start, length)",
            [](Call& c) { return narrow(c.input(), c.integer("dim"), c.integer("start"), c.integer("length")); });
  table.add("select(input, dim, index)", [](Call& c) { return select(c.input(), c.integer("dim"), c.integer("index")); });
  table.add("slice(input, dim=0, start=None, end=None, step=1)", [](Call& c) {
    return c.input().slice(c.integer("dim"), c.integer_or_none("start"), c.integer_or_none("end"), c.integer("step"));
  });
  table.add("unfold(input, dimension, size, step)",
            [](Call& c) { return c.input().unfold(c.integer("dimension"), c.integer("size"), c.integer("step")); });
  table.add("as_strided(input, size: ints, stride: ints, storage_offset=None)",
            [](Call& c) { return as_strided(c.input(), c.ints("size"), c.ints("stride"), c.integer_or_none("storage_offset")); });
  table.add("diagonal(input, offset=0, dim1=0, dim2=1)",
            [](Call& c) { return diagonal(c.input(), c.integer("offset"), c.integer("dim1"), c.integer("dim2")); });
  table.add("diag_embed(input, offset=0, dim1=-2, dim2=-1)",
            [](Call& c) { return diag_embed(c.input(), c.integer("offset"), c.integer("dim1"), c.integer("dim2")); });
  table.add("diag(input, diagonal=0)", [](Call& c) { return diag(c.input(), c.integer("diagonal")); });
  table.add("diagflat(input, offset=0)", [](Call& c) { return diagflat(c.input(), c.integer("offset")); });
}

void add_parts(Table& table) {
  table.add("chunk(input, chunks, dim=0)", [](Call& c) { return chunk(c.input(), c.integer("chunks"), c.integer("dim")); });
  table.add("split(input, split_size_or_sections: int, dim=0)",
            [](Call& c) { return split(c.input(), c.integer("split_size_or_sections"), c.integer("dim")); });
  table.add("split(input, split_size_or_sections: ints, dim=0)",
            [](Call& c) { return split(c.input(), c.ints("split_size_or_sections"), c.integer("dim")); });
  table.add("split_with_sizes(input, split_sizes: ints, dim=0)",
            [](Call& c) { return split(c.input(), c.ints("split_sizes"), c.integer("dim")); });
  table.add("tensor_split(input, sections: int, dim=0)",
            [](Call& c) { return tensor_split(c.input(), c.integer("sections"), c.integer("dim")); });
  table.add("tensor_split(input, indices: ints, dim=0)",
            [](Call& c) { return tensor_split(c.input(), c.ints("indices"), c.integer("dim")); });
  table.add("tensor_split(input, indices_or_sections: Tensor, dim=0)",
            [](Call& c) { return tensor_split(c.input(), c.tensor("indices_or_sections"), c.integer("dim")); });
  const auto three = [&](const std::string& name, Views (*by_number)(const Tensor&, int64_t, Site),
                         Views (*by_indices)(const Tensor&, const Shape&, Site)) {
    table.add((name + "(input, sections: int)").c_str(),
              [by_number](Call& c) { return by_number(c.input(), c.integer("sections"), Site::here()); });
    table.add((name + "(input, indices: ints)").c_str(),
              [by_indices](Call& c) { return by_indices(c.input(), c.ints("indices"), Site::here()); });
  };
  three("hsplit", hsplit, hsplit);
  three("vsplit", vsplit, vsplit);
  three("dsplit", dsplit, dsplit);
  table.add("unbind(input, dim=0)", [](Call& c) { return unbind(c.input(), c.integer("dim")); });
}

void add_joining(Table& table) {
  table.add("cat(tensors, dim=0)", [](Call& c) { return cat(c.tensors("tensors"), c.integer("dim")); });
  table.add("stack(tensors, dim=0)", [](Call& c) { return stack(c.tensors("tensors"), c.integer("dim")); });
  table.add("hstack(tensors)", [](Call& c) { return hstack(c.tensors("tensors")); });
  table.add("vstack(tensors)", [](Call& c) { return vstack(c.tensors("tensors")); });
  table.add("dstack(tensors)", [](Call& c) { return dstack(c.tensors("tensors")); });
  table.add("column_stack(tensors)", [](Call& c) { return column_stack(c.tensors("tensors")); });
  table.add("block_diag(*tensors)", [](Call& c) { return block_diag(c.tensors("tensors")); });
  table.add("cartesian_prod(*tensors)", [](Call& c) { return cartesian_prod(c.tensors("tensors")); });
  table.add("meshgrid(*tensors, indexing='ij')", [](Call& c) { return meshgrid(c.tensors("tensors"), c.text("indexing")); });
  const auto raised = [&](const std::string& name, Tensor (*one)(const Tensor&, Site), Views (*all)(const Views&, Site)) {
    table.add((name + "(input: Tensor)").c_str(), [one](Call& c) { return one(c.input(), Site::here()); });
    table.add((name + "(*tensors)").c_str(), [all](Call& c) { return all(c.tensors("tensors"), Site::here()); });
  };
  raised("atleast_1d", atleast_1d, atleast_1d);
  raised("atleast_2d", atleast_2d, atleast_2d);
  raised("atleast_3d", atleast_3d, atleast_3d);
  table.add("repeat(input, *repeats)", [](Call& c) { return repeat(c.input(), c.ints("repeats")); });
  table.add("tile(input, dims: ints)", [](Call& c) { return tile(c.input(), c.ints("dims")); });
}

void add_moving(Table& table) {
  table.add("flip(input, dims: ints)", [](Call& c) { return flip(c.input(), c.ints("dims")); });
  table.add("fliplr(input)", [](Call& c) { return fliplr(c.input()); });
  table.add("flipud(input)", [](Call& c) { return flipud(c.input()); });
  table.add("roll(input, shifts: ints, dims: ints=[])", [](Call& c) { return roll(c.input(), c.ints("shifts"), c.ints("dims")); });
  table.add("rot90(input, k=1, dims: ints=[0,1])", [](Call& c) { return rot90(c.input(), c.integer("k"), c.ints("dims")); });
}

}  // namespace

void add_shapes(Table& table) {
  add_views(table);
  add_parts(table);
  add_joining(table);
  add_moving(table);
}

}  // namespace golden
