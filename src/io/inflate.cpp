#include "io/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tandem::io {
namespace {

constexpr size_t kMostACall = size_t{1} << 30;  // zlib counts in 32 bits

void end_stream(z_stream* stream) {
  inflateEnd(stream);
  delete stream;
}

}  // namespace

Inflater::Inflater(Form form, std::function<std::string_view()> next, std::string what)
    : form_(form), next_(std::move(next)), what_(std::move(what)), stream_(new z_stream{}, end_stream) {
  constexpr int kGzip = 16;
  const int window = form == Form::Gzip ? kGzip + MAX_WBITS : -MAX_WBITS;
  if (inflateInit2(stream_.get(), window) != Z_OK) fail(what_, "cannot start zlib to unpack it");
}

void Inflater::end_member() {
  if (form_ == Form::Gzip && input_.empty()) input_ = next_();
  done_ = form_ == Form::Deflate || input_.empty();
  if (!done_ && inflateReset(stream_.get()) != Z_OK) fail(what_, "cannot go on to the next gzip member");
}

size_t Inflater::read(void* to, size_t bytes) {
  size_t made = 0;
  while (made < bytes && !done_) {
    if (input_.empty()) input_ = next_();
    const auto in = static_cast<unsigned>(std::min(input_.size(), kMostACall));
    const auto out = static_cast<unsigned>(std::min(bytes - made, kMostACall));
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
    stream_->avail_in = in;
    stream_->next_out = static_cast<Bytef*>(to) + made;
    stream_->avail_out = out;
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    const unsigned taken = in - stream_->avail_in;
    input_.remove_prefix(taken);
    taken_ += taken;
    made += out - stream_->avail_out;
    if (result == Z_STREAM_END) end_member();
    else if (result == Z_BUF_ERROR) fail(what_, "the packed data end too early, at byte ", taken_);
    else if (result != Z_OK) fail(what_, "the packed data are damaged at byte ", taken_, stream_->msg ? str(": ", stream_->msg) : "");
  }
  return made;
}

}  // namespace tandem::io
