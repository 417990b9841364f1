#include "io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "io/file.h"

namespace tandem::io {

std::string gunzip(std::string_view packed, std::string_view what) {
  constexpr int kGzip = 16;
  constexpr size_t kMostACall = size_t{1} << 30;  // zlib counts in 32 bits
  z_stream stream = {};
  if (inflateInit2(&stream, kGzip + MAX_WBITS) != Z_OK) fail(what, "cannot start zlib to unpack gzip");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  std::string bytes;
  size_t taken = 0, made = 0;
  int result = Z_OK;
  while (result != Z_STREAM_END || taken < packed.size()) {
    if (result == Z_STREAM_END && inflateReset(&stream) != Z_OK) fail(what, "cannot go on to the next gzip member");
    if (made == bytes.size()) bytes.resize(std::max<size_t>(2 * bytes.size(), 64 << 10));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = static_cast<unsigned>(std::min(packed.size() - taken, kMostACall));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + made);
    stream.avail_out = static_cast<unsigned>(std::min(bytes.size() - made, kMostACall));
    const unsigned in = stream.avail_in, out = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (result == Z_BUF_ERROR || (result == Z_OK && taken == packed.size() && stream.avail_out > 0))
      fail(what, "the gzip data end too early, at byte ", taken);
    if (result != Z_OK && result != Z_STREAM_END)
      fail(what, "the gzip data are damaged at byte ", taken, stream.msg ? str(": ", stream.msg) : std::string());
  }
  bytes.resize(made);
  return bytes;
}

std::string read_bytes(const char* op, const std::string& path) {
  const InputFile file(op, path);
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size(), 0);
  return bytes.starts_with("\x1f\x8b") ? gunzip(bytes, str("[", op, "] ", path, ": ")) : bytes;
}

}  // namespace tandem::io
