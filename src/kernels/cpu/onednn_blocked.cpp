// Work is cut into pieces of the batch or, where that has few images, into blocks of the result's channels. oneDNN runs on one thread in
// each.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <list>
#include <new>
#include <vector>

#include "base/align.h"
#include "base/parallel.h"
#include "kernels/cpu/blocked.h"
#include "kernels/cpu/onednn_step.h"
#include "kernels/cpu/winograd_range.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kFloat = sizeof(float);

dnnl_format_tag_t blocked_tag() { return channel_block() == 16 ? dnnl_aBcd16b : dnnl_aBcd8b; }

int64_t whole_blocks(int64_t channels) {
  const int64_t block = std::max<int64_t>(1, channel_block());
  return (channels + block - 1) / block * block;
}

/// What goes over images of `channels` channels.
DnnlWindow window_of(const Windows2d& windows, const int64_t (&in)[2], const int64_t (&out)[2]) {
  DnnlWindow window;
  for (int d = 0; d < 2; ++d) {
    window.strides[d] = windows.stride[d];
    window.dilations[d] = windows.dilation[d] - 1;
    window.before[d] = windows.padding[d];
    const int64_t reach = windows.dilation[d] * (windows.kernel[d] - 1) + 1;
    window.behind[d] = (out[d] - 1) * windows.stride[d] + reach - in[d] - windows.padding[d];
  }
  return window;
}

struct Attributes {
  dnnl_primitive_attr_t own = nullptr;
  Attributes() {
    if (dnnl_primitive_attr_create(&own) == dnnl_success) dnnl_primitive_attr_set_scratchpad_mode(own, dnnl_scratchpad_mode_user);
  }
  ~Attributes() { dnnl_primitive_attr_destroy(own); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

struct Description {
  dnnl_primitive_desc_t own = nullptr;
  Description() = default;
  ~Description() { dnnl_primitive_desc_destroy(own); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
};

/// Memory that begins at a cache line.
struct Aligned {
  void operator()(float* data) const { ::operator delete[](data, std::align_val_t(64)); }
};
using Floats = std::unique_ptr<float[], Aligned>;
Floats floats(size_t bytes) { return Floats(static_cast<float*>(::operator new[](bytes, std::align_val_t(64)))); }

/// A part of the work: images and channels of the result.
struct BlockedPart {
  int64_t image, images, channel, channels;
};

constexpr int64_t kFewImages = 4;    // fewer are taken one by one, and their channels cut
constexpr int64_t kLeastBlocks = 2;  // of channels, in a part

/// Parts of about the same size. Rounding depends on how channels are cut, and not on how images are: so the number of threads decides
/// about images alone, and only where channels are not cut.
std::vector<BlockedPart> parts_of(int64_t n, int64_t channels, bool may_cut_channels, int threads) {
  int64_t images = 1, step = channels;
  if (n >= kFewImages || !may_cut_channels) {
    images = (n + threads - 1) / threads;
  } else {
    const int64_t cuts = (kFewImages + n - 1) / n, blocks = whole_blocks(channels) / channel_block();
    step = std::max((blocks + cuts - 1) / cuts, kLeastBlocks) * channel_block();
  }
  std::vector<BlockedPart> parts;
  for (int64_t image = 0; image < n; image += images)
    for (int64_t channel = 0; channel < channels; channel += step)
      parts.push_back({image, std::min(images, n - image), channel, std::min(step, channels - channel)});
  return parts;
}

/// Winograd's tiles of an image: 4x4 places of the result.
int64_t tiles_of(const BlockedConvolutionSizes& sizes) { return (sizes.out[0] + 3) / 4 * ((sizes.out[1] + 3) / 4); }

/// Whether Winograd's algorithm pays: windows of 3x3, enough tiles for the weight that each part goes through, few of them over the edge.
bool suits_winograd(const BlockedConvolutionSizes& sizes) {
  const Windows2d& w = sizes.windows;
  bool suits =
      sizes.groups == 1 && std::min(sizes.in_channels, sizes.out_channels) >= 32 && sizes.in_channels * sizes.out_channels <= 256 * 256;
  for (int d = 0; d < 2; ++d) suits = suits && w.kernel[d] == 3 && w.stride[d] == 1 && w.dilation[d] == 1 && w.padding[d] <= 1;
  return suits && sizes.n * tiles_of(sizes) >= 64 && 10 * sizes.out[0] * sizes.out[1] >= 7 * 16 * tiles_of(sizes);
}

/// Parts for it: by sizes alone, since the rounding depends on the number of images.
std::vector<BlockedPart> winograd_parts_of(const BlockedConvolutionSizes& sizes) {
  const int64_t tiles = sizes.n * tiles_of(sizes), pieces = std::min(sizes.n, std::max<int64_t>((tiles + 255) / 256, tiles >= 64 ? 2 : 1));
  const int64_t images = (sizes.n + pieces - 1) / pieces;
  std::vector<BlockedPart> parts;
  for (int64_t image = 0; image < sizes.n; image += images)
    parts.push_back({image, std::min(images, sizes.n - image), 0, sizes.out_channels});
  return parts;
}

/// Whether some of `count` numbers are so large that Winograd's algorithm is not for them, or nan.
bool has_large(const float* values, int64_t count) {
  bool found = false;
  for (int64_t i = 0; i < count; ++i) found |= !(std::fabs(values[i]) < kWinogradLarge);
  return found;
}

class Convolution final : public BlockedConvolution {
 public:
  Convolution(const BlockedConvolutionSizes& sizes, int threads, bool winograd) : sizes_(sizes), winograd_(winograd) {
    const SingleOpenMp single;
    for (const BlockedPart& part :
         winograd ? winograd_parts_of(sizes) : parts_of(sizes.n, sizes.out_channels, sizes.groups == 1, threads)) {
      if (!piece_of(part)) return;
      tasks_.push_back(std::make_unique<Task>(part, *piece_of(part)));
    }
    for (const auto& task : tasks_) task_scratch_ = std::max(task_scratch_, task->piece.scratch());
    for (const Weight& weight : weights_)
      if (!weight.packed) return;
    bias_ = floats(static_cast<size_t>(whole_blocks(sizes.out_channels) * kFloat));
    if (winograd) plain_ = std::make_unique<Convolution>(sizes, threads, false);
    good_ = !plain_ || plain_->good();
  }
  [[nodiscard]] bool good() const { return good_; }

  int set_weight(const float* weight, const float* bias, const float* scale, const float* shift) override {
    if (plain_)
      if (const int status = plain_->set_weight(weight, bias, scale, shift)) return status;
    const int64_t row = sizes_.in_channels / sizes_.groups * sizes_.windows.kernel[0] * sizes_.windows.kernel[1];
    const Floats scaled = floats(static_cast<size_t>(sizes_.out_channels * row * kFloat));
    float sum = 0;  // not finite where a number is not
    for (int64_t o = 0; o < sizes_.out_channels; ++o) {
      const float by = scale ? scale[o] : 1;
      for (int64_t i = 0; i < row; ++i) {
        const float w = weight[o * row + i] * by;
        scaled[static_cast<size_t>(o * row + i)] = w;
        sum += w * 0;
      }
      const float b = (bias ? bias[o] * by : 0) + (shift ? shift[o] : 0);
      bias_[static_cast<size_t>(o)] = b;
      sum += b * 0;
    }
    if (!std::isfinite(sum)) return -1;
    large_weight_ = plain_ && has_large(scaled.get(), sizes_.out_channels * row);
    const SingleOpenMp single;
    for (const Weight& each : weights_)
      if (const int status = each.lay_out.run(*each.arguments, {scaled.get() + each.channel * row, each.packed.get()})) return status;
    return 0;
  }

  [[nodiscard]] size_t scratch_bytes() const override {
    return std::max(task_scratch_ * tasks_.size(), plain_ ? plain_->scratch_bytes() : 0);
  }

  void run(const Queue& queue, void* out, const void* in, const void* added, void* scratch) override {
    if (plain_ && (large_weight_ || large_in(queue, static_cast<const float*>(in)))) return plain_->run(queue, out, in, added, scratch);
    parallel_for(static_cast<int64_t>(tasks_.size()), 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t)
        if (const int status =
                run_task(*tasks_[static_cast<size_t>(t)], static_cast<char*>(out), static_cast<const char*>(in),
                         static_cast<const char*>(added), static_cast<char*>(scratch) + static_cast<size_t>(t) * task_scratch_))
          queue.status->report(Trouble::Library, status);
    });
  }

 private:
  /// The weight of the channels from `channel` on.
  struct Weight {
    int64_t channel, channels, images;
    DnnlLayout layout;
    DnnlStep lay_out;
    std::unique_ptr<DnnlStep::Arguments> arguments;
    Floats packed;
  };
  /// The code for parts of one size.
  struct Piece {
    int64_t images = 0, channels = 0;
    DnnlStep main, lay_in, lay_added, lay_out;
    size_t in_bytes = 0, out_bytes = 0, main_bytes = 0;  // of what is laid out for it, and what it wants itself
    [[nodiscard]] size_t scratch() const { return align_up(in_bytes) + align_up(out_bytes) + align_up(main_bytes); }
  };
  struct Task {
    Task(const BlockedPart& p, const Piece& of) : part(p), piece(of), main(of.main), in(of.lay_in), added(of.lay_added), out(of.lay_out) {}
    BlockedPart part;
    const Piece& piece;
    DnnlStep::Arguments main, in, added, out;
  };

  [[nodiscard]] bool large_in(const Queue& queue, const float* in) const {
    const int64_t count = sizes_.n * (sizes_.blocked_in ? whole_blocks(sizes_.in_channels) : sizes_.in_channels) * in_places();
    std::atomic<bool> found = false;
    parallel_for(count, 64 << 10, queue.threads, [&](int64_t begin, int64_t end) {
      if (has_large(in + begin, end - begin)) found = true;
    });
    return found;
  }

  [[nodiscard]] int64_t in_places() const { return sizes_.in[0] * sizes_.in[1]; }
  [[nodiscard]] int64_t out_places() const { return sizes_.out[0] * sizes_.out[1]; }

  int run_task(Task& task, char* out, const char* in, const char* added, char* scratch) const {
    const Piece& piece = task.piece;
    const BlockedPart& part = task.part;
    char *const own_in = scratch, *const own_out = own_in + align_up(piece.in_bytes), *const own = own_out + align_up(piece.out_bytes);
    const auto blocked_at = [&](auto* base) {
      return base + (part.image * whole_blocks(sizes_.out_channels) + part.channel) * out_places() * kFloat;
    };
    const auto plain_at = [&](auto* base) { return base + (part.image * sizes_.out_channels + part.channel) * out_places() * kFloat; };
    const char* from = in + part.image * (sizes_.blocked_in ? whole_blocks(sizes_.in_channels) : sizes_.in_channels) * in_places() * kFloat;
    int status = 0;
    if (piece.lay_in.made()) {
      status = piece.lay_in.run(task.in, {from, own_in});
      from = own_in;
    }
    char* const to = sizes_.blocked_out ? blocked_at(out) : own_out;
    if (status == 0 && sizes_.adds && !sizes_.added_is_out) {
      if (!sizes_.blocked_added) status = piece.lay_added.run(task.added, {plain_at(added), to});
      else std::memcpy(to, blocked_at(added), static_cast<size_t>(part.images * whole_blocks(part.channels) * out_places() * kFloat));
    }
    const Weight& weight = *std::find_if(weights_.begin(), weights_.end(), [&](const Weight& w) { return is_for(w, part); });
    if (status == 0) status = piece.main.run(task.main, {to, from, weight.packed.get(), own, bias_.get() + part.channel});
    if (status == 0 && !sizes_.blocked_out) status = piece.lay_out.run(task.out, {to, plain_at(out)});
    return status;
  }

  const Piece* piece_of(const BlockedPart& part) {
    for (const auto& piece : pieces_)
      if (piece->images == part.images && piece->channels == part.channels) {
        if (!weight_of(part, nullptr)) return nullptr;
        return piece.get();
      }
    auto piece = std::make_unique<Piece>();
    piece->images = part.images;
    piece->channels = part.channels;
    if (!build(*piece, part)) return nullptr;
    pieces_.push_back(std::move(piece));
    return pieces_.back().get();
  }

  /// Winograd's layout depends on the number of images.
  [[nodiscard]] bool is_for(const Weight& weight, const BlockedPart& part) const {
    return weight.channel == part.channel && (!winograd_ || weight.images == part.images);
  }

  /// The weight of a part's channels, in the layout that one piece was built with.
  const Weight* weight_of(const BlockedPart& part, const DnnlLayout* layout) {
    const int64_t channels = part.channels;
    for (const Weight& weight : weights_) {
      if (is_for(weight, part)) return &weight;
      if (!layout && weight.channels == channels) layout = &weight.layout;
    }
    weights_.emplace_back();
    Weight& weight = weights_.back();
    weight.channel = part.channel;
    weight.channels = channels;
    weight.images = part.images;
    weight.layout = *layout;
    DnnlLayout plain;
    dnnl_dims_t dims;
    const int ndims = weight_dims(channels, dims);
    if (plain.set_tag(ndims, dims, dnnl_f32, ndims == 4 ? dnnl_abcd : dnnl_abcde) != dnnl_success ||
        weight.lay_out.make_reorder(plain, weight.layout, nullptr) != dnnl_success)  // seldom run: oneDNN takes memory itself
      return nullptr;
    weight.arguments = std::make_unique<DnnlStep::Arguments>(weight.lay_out);
    weight.packed = floats(weight.layout.bytes());
    return &weight;
  }

  int weight_dims(int64_t channels, dnnl_dims_t& dims) const {
    int ndims = 0;
    if (sizes_.groups > 1) dims[ndims++] = sizes_.groups;
    dims[ndims++] = channels / sizes_.groups;
    dims[ndims++] = sizes_.in_channels / sizes_.groups;
    dims[ndims++] = sizes_.windows.kernel[0];
    dims[ndims++] = sizes_.windows.kernel[1];
    return ndims;
  }

  bool build(Piece& piece, const BlockedPart& part) {
    const dnnl_dims_t in_dims = {part.images, sizes_.in_channels, sizes_.in[0], sizes_.in[1]};
    const dnnl_dims_t out_dims = {part.images, part.channels, sizes_.out[0], sizes_.out[1]};
    const dnnl_dims_t out_strides = {sizes_.out_channels * out_places(), out_places(), sizes_.out[1], 1};
    const dnnl_dims_t bias_dims = {part.channels};
    dnnl_dims_t weight_dims_of;
    const int ndims = weight_dims(part.channels, weight_dims_of);
    DnnlLayout plain_in, in, plain_out, out, weight, bias;
    const bool direct = !sizes_.blocked_in && sizes_.in_channels <= 3 && sizes_.groups == 1;  // oneDNN reads pictures as they are
    if (plain_in.set_tag(4, in_dims, dnnl_f32, dnnl_abcd) != dnnl_success ||
        in.set_tag(4, in_dims, dnnl_f32, direct ? dnnl_abcd : blocked_tag()) != dnnl_success ||
        plain_out.set_strides(4, out_dims, dnnl_f32, out_strides) != dnnl_success ||
        out.set_tag(4, out_dims, dnnl_f32, blocked_tag()) != dnnl_success || bias.set_tag(1, bias_dims, dnnl_f32, dnnl_a) != dnnl_success)
      return false;
    const Weight* known = nullptr;
    for (const Weight& each : weights_)
      if (each.channels == part.channels && !winograd_) known = &each;
    if (known) weight = known->layout;
    else if (weight.set_tag(ndims, weight_dims_of, dnnl_f32, dnnl_format_tag_any) != dnnl_success) return false;
    const Attributes attributes, plain;
    if (dnnl_append_operations(attributes.own, sizes_.adds, sizes_.relu) != dnnl_success) return false;
    Description description;
    DnnlWindow window = window_of(sizes_.windows, sizes_.in, sizes_.out);
    if (winograd_) window.algorithm = dnnl_convolution_winograd;
    if (dnnl_describe_convolution(description.own, dnnl_forward_inference, out, in, weight, &bias, window, attributes.own) !=
            dnnl_success ||
        std::strncmp(dnnl_code_name(description.own), "jit", 3) != 0 || piece.main.make(description.own) != dnnl_success)
      return false;
    const DnnlLayout scratch = DnnlLayout::of(description.own, dnnl_query_scratchpad_md);
    const DnnlLayout chosen = DnnlLayout::of(description.own, dnnl_query_weights_md);
    if (!weight_of(part, &chosen)) return false;
    piece.main.add(DNNL_ARG_DST, out);
    piece.main.add(DNNL_ARG_SRC, in);
    piece.main.add(DNNL_ARG_WEIGHTS, chosen);
    piece.main.add(DNNL_ARG_SCRATCHPAD, scratch);
    piece.main.add(DNNL_ARG_BIAS, bias);
    piece.main_bytes = scratch.bytes();
    if (!sizes_.blocked_in && !direct) {
      piece.in_bytes = in.bytes();
      if (piece.lay_in.make_reorder(plain_in, in, plain.own) != dnnl_success) return false;
    }
    if (!sizes_.blocked_out) {
      piece.out_bytes = out.bytes();
      if (piece.lay_out.make_reorder(out, plain_out, plain.own) != dnnl_success) return false;
    }
    return !sizes_.adds || sizes_.blocked_added || piece.lay_added.make_reorder(plain_out, out, plain.own) == dnnl_success;
  }

  const BlockedConvolutionSizes sizes_;
  const bool winograd_;
  std::unique_ptr<Convolution> plain_;  // of Winograd's algorithm: for numbers that are not for it
  bool large_weight_ = false;
  std::vector<std::unique_ptr<Piece>> pieces_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::list<Weight> weights_;
  Floats bias_;
  size_t task_scratch_ = 0;
  bool good_ = false;
};

class Pool final : public BlockedPool {
 public:
  Pool(const BlockedPoolSizes& sizes, int threads) : sizes_(sizes) {
    const SingleOpenMp single;
    for (const BlockedPart& part : parts_of(sizes.n, sizes.channels, true, threads)) {
      auto task = std::make_unique<Task>();
      task->part = part;
      if (!build(*task)) return;
      task_scratch_ = std::max(task_scratch_, task->scratch);
      tasks_.push_back(std::move(task));
    }
    good_ = true;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] size_t scratch_bytes() const override { return task_scratch_ * tasks_.size(); }

  void run(const Queue& queue, void* out, const void* in, void* scratch) override {
    parallel_for(static_cast<int64_t>(tasks_.size()), 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const Task& task = *tasks_[static_cast<size_t>(t)];
        const auto at = [&](int64_t places) {
          return (task.part.image * whole_blocks(sizes_.channels) + task.part.channel) * places * kFloat;
        };
        if (const int status = task.main.run(*task.arguments, {static_cast<char*>(out) + at(sizes_.out[0] * sizes_.out[1]),
                                                               static_cast<const char*>(in) + at(sizes_.in[0] * sizes_.in[1]),
                                                               static_cast<char*>(scratch) + static_cast<size_t>(t) * task_scratch_}))
          queue.status->report(Trouble::Library, status);
      }
    });
  }

 private:
  struct Task {
    BlockedPart part;
    DnnlStep main;
    std::unique_ptr<DnnlStep::Arguments> arguments;
    size_t scratch = 0;
  };

  bool build(Task& task) const {
    const dnnl_dims_t in_dims = {task.part.images, task.part.channels, sizes_.in[0], sizes_.in[1]};
    const dnnl_dims_t out_dims = {task.part.images, task.part.channels, sizes_.out[0], sizes_.out[1]};
    DnnlLayout in, out;
    if (in.set_tag(4, in_dims, dnnl_f32, blocked_tag()) != dnnl_success ||
        out.set_tag(4, out_dims, dnnl_f32, blocked_tag()) != dnnl_success)
      return false;
    const Attributes attributes;
    Description description;
    if (dnnl_describe_max_pool(description.own, out, in, window_of(sizes_.windows, sizes_.in, sizes_.out), sizes_.windows.kernel,
                               attributes.own) != dnnl_success ||
        std::strncmp(dnnl_code_name(description.own), "jit", 3) != 0 || task.main.make(description.own) != dnnl_success)
      return false;
    const DnnlLayout scratch = DnnlLayout::of(description.own, dnnl_query_scratchpad_md);
    task.main.add(DNNL_ARG_DST, out);
    task.main.add(DNNL_ARG_SRC, in);
    task.main.add(DNNL_ARG_SCRATCHPAD, scratch);
    task.arguments = std::make_unique<DnnlStep::Arguments>(task.main);
    task.scratch = align_up(scratch.bytes());
    return true;
  }

  const BlockedPoolSizes sizes_;
  std::vector<std::unique_ptr<Task>> tasks_;
  size_t task_scratch_ = 0;
  bool good_ = false;
};

}  // namespace

int64_t channel_block() {
  static const int64_t block = [] {
    const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
    const auto has = [isa](dnnl_cpu_isa_t wanted) { return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted); };
    return has(dnnl_cpu_isa_avx512_core) ? 16 : has(dnnl_cpu_isa_avx2) ? 8 : 0;
  }();
  return block;
}

size_t blocked_bytes(int64_t n, int64_t channels, int64_t places) {
  return static_cast<size_t>(n * whole_blocks(channels) * places * kFloat);
}

std::unique_ptr<BlockedConvolution> BlockedConvolution::make(const BlockedConvolutionSizes& sizes, int threads) {
  if (channel_block() == 0) return nullptr;
  for (const bool winograd : {true, false}) {
    if (winograd && !suits_winograd(sizes)) continue;
    auto made = std::make_unique<Convolution>(sizes, std::max(1, threads), winograd);
    if (made->good()) return made;
  }
  return nullptr;
}

std::unique_ptr<BlockedPool> BlockedPool::make(const BlockedPoolSizes& sizes, int threads) {
  if (channel_block() == 0) return nullptr;
  auto made = std::make_unique<Pool>(sizes, std::max(1, threads));
  return made->good() ? std::move(made) : nullptr;
}

}  // namespace tandem::kernels::cpu
