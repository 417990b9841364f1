#include "onnx/export/writer.h"

#include <algorithm>
#include <cstring>
#include <typeinfo>

#include "base/work_site.h"
#include "ops/creation.h"
#include "tensor/tensor_impl.h"

namespace tandem::onnx::exporting {
namespace {

std::string line_of(Site given) {
  const Site site = tandem::detail::site_of_work(given);
  if (site.line <= 0) return {};
  const std::string_view file = site.file;
  const size_t slash = file.rfind('/');
  return str(slash == std::string_view::npos ? file : file.substr(slash + 1), ':', site.line);
}

}  // namespace

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto rows :
       {pointwise_rows(), product_rows(), window_rows(), reduction_rows(), moving_rows(), indexing_rows(), layer_rows(), recurrent_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

Writer::Writer(Graph& graph_, std::vector<Recording*> recordings, const NamedTensors& tensors, std::vector<Range> module, bool may_change)
    : graph(graph_),
      recordings_(std::move(recordings)),
      tensors_(tensors),
      module_(std::move(module)),
      may_change_(may_change),
      memory_(graph_) {
  for (size_t k = 0; k < kTraces; ++k) region_of_block_[k].assign(recordings_[k]->trace.blocks().size(), -1);
}

void Writer::refuse_setting() const {
  graph.refuse("a number of it changes with the sizes of the inputs, and no tensor of the graph has it; leave those dimensions fixed");
}

int Writer::region_of(const std::array<const void*, kTraces>& addresses, Size& first) {
  const auto* const address = static_cast<const char*>(addresses[0]);
  Region found;
  std::array<int, kTraces> blocks{};
  for (size_t k = 0; k < kTraces; ++k) blocks[k] = recordings_[k]->trace.find(addresses[k]);
  const auto differs = [&] { graph.refuse("the module goes another way for other sizes of the inputs; leave those dimensions fixed"); };
  int number = -1;
  if (blocks[0] >= 0) {
    for (size_t k = 0; k < kTraces; ++k) {
      if (blocks[k] < 0) differs();
      const int known = region_of_block_[k][static_cast<size_t>(blocks[k])];
      if (k > 0 && known != number) differs();
      number = known;
      found.begin[k] = recordings_[k]->trace.blocks()[static_cast<size_t>(blocks[k])]->data;
    }
    found.blocks = blocks;
  } else {
    const auto in = [&](const char* at, const Range& r) { return at >= r.begin && at < r.begin + r.bytes; };
    found.kind = Region::Kind::Captured;
    found.number = -1;
    for (size_t i = 0; i < module_.size(); ++i)
      if (in(address, module_[i])) {
        found.kind = Region::Kind::Module;
        found.number = static_cast<int>(i);
        found.begin.fill(module_[i].begin);
        for (const void* const other : addresses)
          if (!in(static_cast<const char*>(other), module_[i])) differs();
      }
    if (found.kind == Region::Kind::Captured) {  // the one that begins there and is longest
      for (size_t k = 0; k < kTraces; ++k) {
        const auto& captured = recordings_[k]->captured;
        int own = -1;
        for (size_t i = 0; i < captured.size(); ++i)
          if (in(static_cast<const char*>(addresses[k]), captured[i].range) &&
              (own < 0 || captured[i].range.bytes > captured[static_cast<size_t>(own)].range.bytes))
            own = static_cast<int>(i);
        if (own < 0) graph.refuse("it writes to a tensor that was there before and is neither an input nor a parameter or buffer");
        if (k == 0) found.number = own;
        found.blocks[k] = own;
        found.begin[k] = captured[static_cast<size_t>(own)].range.begin;
        if (captured[static_cast<size_t>(own)].bytes != recordings_[0]->captured[static_cast<size_t>(found.number)].bytes) differs();
      }
    }
    for (size_t i = 0; i < regions_.size(); ++i)
      if (regions_[i].kind == found.kind && regions_[i].number == found.number) number = static_cast<int>(i);
  }
  if (number < 0) {
    number = memory_.add_region();
    regions_.push_back(found);
    if (found.kind == Region::Kind::Traced)
      for (size_t k = 0; k < kTraces; ++k) region_of_block_[k][static_cast<size_t>(blocks[k])] = number;
  }
  for (size_t k = 0; k < kTraces; ++k)
    first.at[k] = static_cast<const char*>(addresses[k]) - regions_[static_cast<size_t>(number)].begin[k];
  return number;
}

Elements Writer::at(const std::array<const void*, kTraces>& addresses, DType dtype, Sizes sizes, Sizes strides) {
  Elements elements;
  Size bytes;
  elements.region = region_of(addresses, bytes);
  elements.dtype = dtype;
  const auto width = static_cast<int64_t>(size_of(dtype));
  if (!bytes.divisible(width)) graph.refuse("it sees memory as another dtype");
  elements.offset = bytes / width;
  elements.sizes = std::move(sizes);
  elements.strides = std::move(strides);
  return elements;
}

std::optional<Elements> Writer::elements(const std::array<const kernels::View*, kTraces>& views) {
  std::array<const void*, kTraces> addresses{};
  for (size_t k = 0; k < kTraces; ++k) {
    addresses[k] = views[k]->data;
    if (!views[k]->data != !views[0]->data || views[k]->ndim != views[0]->ndim || views[k]->dtype != views[0]->dtype)
      graph.refuse("the module goes another way for other sizes of the inputs; leave those dimensions fixed");
  }
  if (!addresses[0]) return {};
  Sizes sizes(static_cast<size_t>(views[0]->ndim)), strides(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d)
    for (size_t k = 0; k < kTraces; ++k) {
      sizes[d].at[k] = views[k]->sizes[d];
      strides[d].at[k] = views[k]->strides[d];
    }
  return at(addresses, views[0]->dtype, std::move(sizes), std::move(strides));
}

void Writer::prepare(const Elements& elements) {
  Region& region = regions_[static_cast<size_t>(elements.region)];
  if (region.ready) return;
  region.ready = true;
  if (region.kind == Region::Kind::Module) {
    const Range& range = module_[static_cast<size_t>(region.number)];
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto& [name, tensor] = tensors_[i];
      const TensorImpl& impl = tensor.impl();
      const auto* const data = static_cast<const char*>(impl.data);
      if (data < range.begin || data >= range.begin + range.bytes) continue;
      Elements own{elements.region, impl.dtype, 0, Sizes(impl.sizes.begin(), impl.sizes.end()),
                   Sizes(impl.strides.begin(), impl.strides.end())};
      own.offset = (data - range.begin) / static_cast<int64_t>(size_of(impl.dtype));
      if (memory_.source(own)) continue;  // the same one under another name
      memory_.write(own, graph.initializer(name, tensor, static_cast<int64_t>(i)));
    }
    return;
  }
}

std::string_view Writer::bytes_of(const Elements& elements) {
  Region& region = regions_[static_cast<size_t>(elements.region)];
  if (region.kind == Region::Kind::Module) return {};
  if (region.kind == Region::Kind::Captured) return recordings_[0]->captured[static_cast<size_t>(region.number)].bytes;
  std::array<const compiling::Block*, kTraces> blocks{};
  for (size_t k = 0; k < kTraces; ++k) blocks[k] = recordings_[k]->trace.blocks()[static_cast<size_t>(region.blocks[k])].get();
  if (!blocks[0]->host_written) return {};
  for (size_t k = 1; k < kTraces && !region.ready; ++k)
    if (blocks[k]->bytes != blocks[0]->bytes || std::memcmp(blocks[k]->data, blocks[0]->data, blocks[0]->bytes) != 0)
      graph.refuse("a tensor that is made of numbers has other ones for other sizes of the inputs; make it of arange, or of an input, or ",
                   "leave those dimensions fixed");
  region.ready = true;
  return {blocks[0]->data, blocks[0]->bytes};
}

const Value* Writer::constant(const Elements& elements, std::string_view bytes, bool keep_ones) {
  Shape sizes, strides;
  for (size_t d = 0; d < elements.sizes.size(); ++d) {
    const bool repeats = elements.strides[d].is(0);
    if (!elements.offset.is_fixed() || !elements.strides[d].is_fixed() || (!repeats && !elements.sizes[d].is_fixed())) refuse_setting();
    sizes.push_back(repeats ? 1 : elements.sizes[d].at[0]);
    strides.push_back(elements.strides[d].at[0]);
  }
  const Tensor tensor = empty(sizes, {.dtype = elements.dtype});
  auto* to = static_cast<char*>(tensor.data_ptr());
  const size_t width = size_of(elements.dtype);
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t at = elements.offset.at[0];
  for (int64_t i = 0; i < tensor.numel(); ++i, to += width) {
    std::memcpy(to, bytes.data() + at * static_cast<int64_t>(width), width);
    for (size_t d = sizes.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < sizes[d]) break;
      at -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
  const Value* const value = graph.constant(tensor);
  return keep_ones ? value : graph.expand(value, elements.sizes);
}

const Value* Writer::read(const Elements& elements, bool keep_ones) {
  prepare(elements);
  if (!memory_.has_values(elements.region))
    if (const std::string_view bytes = bytes_of(elements); !bytes.empty()) return constant(elements, bytes, keep_ones);
  if (const Value* const value = memory_.read(elements, keep_ones)) return value;
  if (!memory_.has_values(elements.region)) graph.refuse("it reads memory that nothing has written, such as that of empty()");
  graph.refuse("it reads a view of sizes ", text_of(elements.sizes), " and strides ", text_of(elements.strides),
               " that cannot be told by ONNX's operators; make a contiguous copy by operations such as index_select or cat, or leave the ",
               "dimensions of the inputs fixed");
}

void Writer::give(const Elements& elements, const Value* value) {
  const Region& region = regions_[static_cast<size_t>(elements.region)];
  if (region.kind == Region::Kind::Captured || (region.kind == Region::Kind::Module && !may_change_))
    graph.refuse("it changes a tensor that was there before the call; a file keeps nothing from one call to the next: return it instead");
  prepare(elements);
  if (const std::string_view bytes = bytes_of(elements); !bytes.empty() && !memory_.has_values(elements.region)) {
    Elements all = {elements.region, elements.dtype, 0, {Size(static_cast<int64_t>(bytes.size() / size_of(elements.dtype)))}, {1}};
    memory_.write(all, constant(all, bytes, true));
  }
  memory_.write(elements, graph.reshape(graph.cast(value, elements.dtype), elements.sizes));
}

void Writer::write() {
  const std::vector<Row> rows = all_rows();
  graph.set_step("an input", {});
  for (size_t i = 0; i < recordings_[0]->inputs.size(); ++i) {
    std::array<const void*, kTraces> addresses{};
    Sizes sizes;
    for (size_t k = 0; k < kTraces; ++k) addresses[k] = recordings_[k]->inputs[i].impl().data;
    const Value* const value = graph.finish().inputs[i];
    if (count_of(value->sizes).is(0) || !addresses[0]) continue;
    give(at(addresses, value->dtype, value->sizes, dense_strides(value->sizes)), value);
  }
  const size_t count = recordings_[0]->trace.calls().size();
  for (size_t n = 0; n < count; ++n) {
    for (size_t k = 0; k < kTraces; ++k) {
      auto& calls = recordings_[k]->trace.calls();
      calls_[k] = n < calls.size() ? calls[n].get() : nullptr;
    }
    compiling::Call& call = *calls_[0];
    graph.set_step(call.op(), line_of(call.site()));
    for (const compiling::Call* const other : calls_)
      if (!other || typeid(*other) != typeid(call))
        graph.refuse("the module goes another way for other sizes of the inputs; leave those dimensions fixed");
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return *r.type == typeid(call); });
    if (row == rows.end())
      graph.refuse("it cannot be written to ONNX yet; compute it outside of the module that is exported, or by other operations");
    row->write(*this);
  }
  for (size_t k = 0; k < kTraces; ++k)
    if (recordings_[k]->trace.calls().size() != count)
      graph.refuse("the module goes another way for other sizes of the inputs; leave those dimensions fixed");
}

const Value* Writer::output(size_t i) {
  graph.set_step("output", std::to_string(i));
  std::array<const kernels::View*, kTraces> views{};
  std::array<kernels::View, kTraces> own;
  for (size_t k = 0; k < kTraces; ++k) {
    const TensorImpl& impl = recordings_[k]->outputs[i].impl();
    own[k].data = impl.data;
    own[k].dtype = impl.dtype;
    own[k].ndim = static_cast<int32_t>(impl.sizes.size());
    std::copy(impl.sizes.begin(), impl.sizes.end(), own[k].sizes);
    std::copy(impl.strides.begin(), impl.strides.end(), own[k].strides);
    views[k] = &own[k];
    if (impl.numel == 0) graph.refuse("it has no elements");
  }
  return read(*elements(views));
}

}  // namespace tandem::onnx::exporting
