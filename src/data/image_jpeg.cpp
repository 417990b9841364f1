// JPEG by TurboJPEG's calls.
#include <turbojpeg.h>

#include <memory>

#include "base/error.h"
#include "data/image_codecs.h"
#include "ops/creation.h"

namespace tandem::data::detail {
namespace {

using Handle = std::unique_ptr<void, int (*)(tjhandle)>;

Handle start(tjhandle handle, std::string_view what) {
  if (!handle) fail(what, "cannot start TurboJPEG: ", tjGetErrorStr2(nullptr));
  return {handle, tjDestroy};
}

void check(const Handle& handle, int status, std::string_view what) {
  if (status != 0) fail(what, "TurboJPEG says: ", tjGetErrorStr2(handle.get()));
}

}  // namespace

Tensor decode_jpeg(std::string_view bytes, std::string_view what) {
  const Handle handle = start(tjInitDecompress(), what);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0, height = 0, subsampling = 0, colours = 0;
  check(handle, tjDecompressHeader3(handle.get(), data, bytes.size(), &width, &height, &subsampling, &colours), what);
  constexpr int64_t kMostPixelsAByte = 8 * 64;  // a block of 8 x 8 takes a bit at least; arithmetic coding's rare exceptions are refused
  check_pixels(what, width, height, static_cast<int64_t>(bytes.size()) * kMostPixelsAByte);
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) fail(what, "a JPEG of CMYK colours is not read: convert it to RGB");
  const bool gray = colours == TJCS_GRAY;
  const Tensor pixels = empty({height, width, gray ? 1 : 3}, kUInt8);
  // A warning is damage: what stands behind it is made up.
  constexpr int kFlags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  check(handle,
        tjDecompress2(handle.get(), data, bytes.size(), pixels.data_ptr<uint8_t>(), width, 0, height, gray ? TJPF_GRAY : TJPF_RGB, kFlags),
        what);
  return pixels;
}

std::string encode_jpeg(const Tensor& pixels, int quality, std::string_view what) {
  const Handle handle = start(tjInitCompress(), what);
  const bool gray = pixels.size(2) == 1;
  const auto width = static_cast<int>(pixels.size(1)), height = static_cast<int>(pixels.size(0));
  const int subsampling = gray ? TJSAMP_GRAY : TJSAMP_420;
  std::string bytes(tjBufSize(width, height, subsampling), '\0');
  auto* data = reinterpret_cast<unsigned char*>(bytes.data());
  unsigned long size = bytes.size();
  check(handle,
        tjCompress2(handle.get(), pixels.data_ptr<uint8_t>(), width, 0, height, gray ? TJPF_GRAY : TJPF_RGB, &data, &size, subsampling,
                    quality, TJFLAG_NOREALLOC),
        what);
  bytes.resize(size);
  return bytes;
}

}  // namespace tandem::data::detail
