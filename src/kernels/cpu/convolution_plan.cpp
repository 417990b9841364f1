#include "kernels/cpu/convolution_plan.h"

#include <bit>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/shares.h"

namespace tandem::kernels::cpu {
namespace {

constexpr double kSmall = 128e3;            // multiplications up to which oneDNN's first call, milliseconds, is not worth it
constexpr int64_t kPieceBytes = 256 << 10;  // of a piece: what it is reordered to and back stays in the second cache
constexpr int64_t kMaxPieceBytes = 4 << 20;
constexpr double kTask = 500e3;                 // multiplications that are worth a task
constexpr int64_t kMaxRuns = 16;                // of the weight's gradient
constexpr int64_t kRunBytes = 32 << 20;         // that their sums may take
constexpr int64_t kPlainRuns = 4;               // in place of Winograd's, whose sums are four times the weight
constexpr int64_t kColumns = 64 << 10;          // elements of what windows see, at a time
constexpr int64_t kPlaces = 128;                // from which on a product with an image pays
constexpr double kImagesGain = 1.6;             // how much fuller lanes have to be of images than of channels: AVX-512, SSE
constexpr double kImagesGainOfAvx2 = 1.05;      // where oneDNN is slower: measured on two cores of a Zen 5
constexpr int64_t kImagesBytes = 2 << 20;       // that a vector of images may take: the second cache
constexpr int64_t kWinogradBytes = 1280 << 10;  // of the values of a piece: most of the second cache
constexpr int64_t kWinogradBlock = 64;          // channels that are made at a time: what the registers hold twice
constexpr int64_t kWinogradSums = 16 << 20;     // that sums of the weight's gradient may take
constexpr int64_t kWinogradTiles = 16;          // from which on the weight's transform pays

}  // namespace

ConvolutionPlan::ConvolutionPlan(ConvolutionPart part, const View& out_view, const View& in_view, const View& weight,
                                 const Windows& windows, int64_t groups, bool has_bias, bool plain)
    : part(part),
      dtype(in_view.dtype),
      windows(windows),
      n(in_view.sizes[0]),
      groups(groups),
      ic(in_view.sizes[1]),
      oc(out_view.sizes[1]),
      has_bias(has_bias) {
  for (int d = 0; d < 3; ++d) {
    in[d] = in_view.sizes[2 + d];
    out[d] = out_view.sizes[2 + d];
    this->windows.kernel[d] = weight.sizes[2 + d];
  }
  const bool large = !plain && static_cast<double>(n) * work() > kSmall;
  if (large && suits_winograd()) {
    route = Route::Winograd;
    plan_winograd();
  } else if (large && suits_images()) {
    route = Route::Images;
    plan_images();
  } else if (large && suits_products()) {
    route = Route::Products;
    scratch_bytes = products_workspace(*this);
  } else if (large && (dtype == kFloat32 || (dtype == kBFloat16 && dnnl_has_bfloat16()))) {
    route = Route::Dnnl;
    cut_direct();
    if (!plan_dnnl()) route = Route::Columns;
  }
  if (route == Route::Columns) plan_columns();
  if (plain && part == ConvolutionPart::Weight) {  // it shall want no more memory than what it stands in for
    runs = std::min(runs, kPlainRuns);
    slots = std::min(slots, kPlainRuns);
  }
}

// What is reordered for oneDNN's convolution weighs as much as what is computed. Small images make narrow products.
bool ConvolutionPlan::suits_products() const {
  bool points = groups == 1 && dtype == kFloat32;
  for (int d = 0; d < 3; ++d) points = points && windows.kernel[d] == 1 && windows.stride[d] == 1 && windows.padding[d] == 0;
  return points && out_places() >= kPlaces;
}

// oneDNN's vectors hold channels, but for an input of up to three; images in lanes waste nothing but lanes without an image. Each window
// then costs a pass over its sums, which is too much where it sees little. With AVX2 oneDNN's gradient of the weight takes up to five times
// as long of one channel or two.
bool ConvolutionPlan::suits_images() const {
  const int64_t lanes = isa().images.lanes();
  if (groups != 1 || dtype != kFloat32 || n <= lanes / 2) return false;
  if (images_bytes(*this) > kImagesBytes || (part == ConvolutionPart::Forward && seen() < 16)) return false;
  const auto filled = [&](int64_t count) { return static_cast<double>(count) / static_cast<double>(ceil_div(count, lanes) * lanes); };
  const bool avx2 = lanes == 8, reads_few = part == ConvolutionPart::Forward || (part == ConvolutionPart::Weight && !avx2);
  const double channels = (ic <= 3 && reads_few ? 1 : filled(ic)) * filled(oc);
  return filled(n) >= (avx2 ? kImagesGainOfAvx2 : kImagesGain) * channels;
}

// Winograd's algorithm makes 4x4 places of the result at a time with a quarter of the multiplications. It transforms the weight, which some
// dozens of these tiles outweigh, and pads the result to whole tiles.
bool ConvolutionPlan::suits_winograd() const {
  bool plain = groups == 1 && dtype == kFloat32 && in[0] == 1 && windows.kernel[0] == 1 && windows.padding[0] == 0;
  for (int d = 1; d < 3; ++d)
    plain = plain && windows.kernel[d] == 3 && windows.stride[d] == 1 && windows.dilation[d] == 1 && windows.padding[d] <= 2;
  if (!plain || std::min(ic, oc) < 16) return false;
  const int64_t tiles = n * ceil_div(made()[1], 4) * ceil_div(made()[2], 4);
  return tiles >= kWinogradTiles && n * made()[1] * made()[2] >= 8 * tiles;
}

void ConvolutionPlan::plan_winograd() {
  const bool gradient = part == ConvolutionPart::Weight;
  const int64_t lanes = isa().images.lanes(), cores = shares();
  const auto in_vectors = [&](int64_t channels) { return ceil_div(channels, lanes) * lanes; };
  const int64_t channels_made = in_vectors(units()), channels_read = in_vectors(ic + oc - units());
  const int64_t tile_columns = ceil_div(made()[2], 4), strips = n * ceil_div(made()[1], 4);
  few = strips * tile_columns < channels_made;
  if (few) {
    const int64_t channels = std::max<int64_t>(1, kWinogradBytes / (36 * 4 * channels_read) / lanes) * lanes;
    block = std::min({channels_made, channels, kWinogradBlock});
    blocks = ceil_div(channels_made, block);
    piece = strips;
    pieces = 1;
    slots = std::min<int64_t>(cores, blocks);
  } else {
    block = std::min(channels_made, kWinogradBlock);
    blocks = 1;
    int64_t bytes = kWinogradBytes;
    if (gradient) {
      // Each piece goes through all sums: large ones ask for large pieces.
      const int64_t sums = 36 * ic * block * 4;
      bytes = std::max(bytes, sums);
      blocks = ceil_div(channels_made, block);
      runs = std::clamp<int64_t>(kMaxRuns / 2 / blocks, 1, std::max<int64_t>(1, kWinogradSums / (sums * blocks)));
    }
    piece = std::clamp<int64_t>(bytes / (36 * 4 * (channels_read + block)) / tile_columns, 1, strips);
    pieces = ceil_div(strips, piece);
    if (gradient) {
      runs = std::min(runs, pieces);
      pieces = ceil_div(pieces, runs) * runs;
    } else {
      pieces = ceil_div(pieces, cores) * cores;  // as many for each core
    }
    pieces = std::min(pieces, strips);
    piece = ceil_div(strips, pieces);
    slots = std::min<int64_t>(cores, gradient ? runs * blocks : pieces);
  }
  weight_bytes = winograd_weight_bytes(*this);
  scratch_bytes = winograd_scratch(*this);
}

void ConvolutionPlan::cut_direct() {
  const auto size = static_cast<int64_t>(size_of(dtype));
  const int64_t image = (ic * in_places() + oc * out_places()) * size;
  // Each piece goes through the whole weight, so a large one asks for large pieces.
  const int64_t all_weight = oc * seen() * 4;
  pieces = ceil_div(n, std::clamp<int64_t>(std::clamp(all_weight, kPieceBytes, kMaxPieceBytes) / image, 1, n));
  const int64_t cores = shares();
  // As many pieces for each core, where they are worth it; a weight that outweighs the images is better cut itself.
  if (part != ConvolutionPart::Weight) {
    if (static_cast<double>(n) * work() < 2 * kTask && image * n <= 2 * kPieceBytes) pieces = 1;
    else if (all_weight < image * n) pieces = std::min(n, ceil_div(pieces, cores) * cores);
  }
  cut_rest(cores);
}

/// The batch into `pieces`. Where they are fewer than `tasks`, the channels are cut too, as far as that is worth it; for the weight's
/// gradient by sizes alone, since the order of its sums depends on it.
void ConvolutionPlan::cut_rest(int64_t tasks) {
  piece = ceil_div(n, pieces);
  pieces = ceil_div(n, piece);
  const bool gradient = part == ConvolutionPart::Weight;
  runs = gradient ? std::clamp<int64_t>(kRunBytes / (oc * seen() * 4), 1, std::min(pieces, kMaxRuns)) : 1;
  const int64_t wanted = gradient ? ceil_div(kMaxRuns / 2, runs) : ceil_div(tasks, pieces);
  const auto worth = static_cast<int64_t>(work() * static_cast<double>(gradient ? ceil_div(n, runs) : piece) / kTask);
  blocks = std::clamp<int64_t>(std::min(wanted, worth), 1, std::max<int64_t>(1, groups > 1 ? groups : units() / 32));
  block = ceil_div(units(), blocks);
  if (blocks > 1 && groups == 1) block = ceil_div(block, 16) * 16;
  blocks = ceil_div(units(), block);
  slots = std::min<int64_t>(shares(), gradient ? runs * blocks : pieces * blocks);
}

bool ConvolutionPlan::plan_dnnl() {
  weight_bytes = scratch_bytes = 0;
  const int64_t last_piece = n - (pieces - 1) * piece, last_block = units() - (blocks - 1) * block;
  for (const int64_t images : {piece, last_piece})
    for (const int64_t count : {block, last_block}) {
      const DnnlConvolutionBytes bytes = dnnl_convolution_bytes(dnnl_piece(images, count));
      if (!bytes.supported) return false;
      weight_bytes = std::max(weight_bytes, bytes.weight);
      scratch_bytes = std::max(scratch_bytes, bytes.scratch);
    }
  if (part == ConvolutionPart::Weight) scratch_bytes += weight_bytes;  // a piece's own sums
  return true;
}

DnnlConvolution ConvolutionPlan::dnnl_piece(int64_t images, int64_t count) const {
  DnnlConvolution c{};
  c.part = static_cast<int64_t>(part);
  c.bfloat16 = dtype == kBFloat16;
  c.n = images;
  c.groups = groups > 1 ? count : 1;
  c.ic = groups > 1 ? count * (ic / groups) : part == ConvolutionPart::Input ? count : ic;
  c.oc = groups > 1 ? count * (oc / groups) : part == ConvolutionPart::Input ? oc : count;
  for (int d = 0; d < 3; ++d) {
    c.in[d] = in[d];
    c.out[d] = out[d];
    c.kernel[d] = windows.kernel[d];
    c.stride[d] = windows.stride[d];
    c.padding[d] = windows.padding[d];
    c.dilation[d] = windows.dilation[d];
  }
  c.in_batch = ic * in_places();
  c.out_batch = oc * out_places();
  c.weight_row = seen();
  c.bias = has_bias;
  c.whole = piece;
  return c;
}

void ConvolutionPlan::plan_columns() {
  piece = block = 1;
  pieces = blocks = 1;
  places = std::clamp<int64_t>(kColumns / seen(), std::min<int64_t>(16, out_places()), out_places());
  const size_t wide = dtype == kFloat64 || !is_floating(dtype) ? 8 : 4;
  const size_t weight = align_up(static_cast<size_t>(oc * seen()) * wide);
  const bool gradient = part == ConvolutionPart::Weight;
  runs = gradient ? std::clamp<int64_t>(kRunBytes / static_cast<int64_t>(weight), 1, std::min(n, kMaxRuns)) : 1;
  weight_bytes = weight;
  slots = shares();
  scratch_bytes = columns_scratch(*this);
}

void ConvolutionPlan::plan_images() {
  const int64_t vectors = ceil_div(n, isa().images.lanes());
  const bool gradient = part == ConvolutionPart::Weight;
  runs = gradient ? std::clamp<int64_t>(kRunBytes / (oc * seen() * 4), 1, std::min(vectors, kMaxRuns)) : 1;
  // Each block of channels lays the images out anew, so there are no more than the cores need.
  const int64_t tasks = gradient ? runs : vectors, results = units();
  block = ceil_div(results, std::min(ceil_div(shares(), tasks), ceil_div(results, isa().images.rows())));
  blocks = ceil_div(results, block);
  slots = std::min<int64_t>(shares(), tasks * blocks);
  const int64_t terms = part == ConvolutionPart::Input ? oc * (seen() / ic) : seen();
  weight_bytes = align_up(static_cast<size_t>(block * terms) * sizeof(float));
  scratch_bytes = images_scratch(*this);
}

}  // namespace tandem::kernels::cpu
