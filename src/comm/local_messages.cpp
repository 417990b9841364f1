// Messages between two ranks of one machine: a ring of bytes for each pair and direction. A message is a header and its bytes; one that is
// longer than the ring passes through it in parts. Messages of another tag than the one that is waited for are kept by the receiver.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "comm/local_backend.h"
#include "runtime/virtual/driver.h"

namespace tandem::comm {
namespace {

struct Header {
  uint64_t bytes = 0;
  int32_t tag = 0;
  uint32_t spoiled = 0;  // the bytes say why there are no elements
};

int device_of(const Context& context) { return context.device.is_cuda() ? context.device.index() : -1; }

void move(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device < 0 && from_device < 0) std::memcpy(to, from, bytes);
  else static_cast<runtime::virtual_gpu::VirtualDriver&>(runtime::require_driver()).copy_now(to, to_device, from, from_device, bytes);
}

}  // namespace

void LocalBackend::write(const Context& context, int peer, const void* data, int device, size_t bytes) {
  Channel& channel = segment_.channel(rank_, peer);
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const uint32_t written = channel.written.load(std::memory_order_relaxed);
    const auto room = [&] { return kChannel - (written - channel.read.load(std::memory_order_acquire)); };
    if (room() == 0)
      segment_.wait_slowly(context, peer, channel.read, channel.writer_sleeps, [&](int rank) { return rank != peer || room() > 0; });
    const size_t at = written % kChannel;
    const size_t part = std::min({bytes, room(), kChannel - at});
    move(channel.data + at, -1, from, device, part);
    segment_.publish(channel.written, written + static_cast<uint32_t>(part), channel.reader_sleeps);
    from += part;
    bytes -= part;
  }
}

void LocalBackend::read(const Context& context, int peer, void* data, int device, size_t bytes) {
  Channel& channel = segment_.channel(peer, rank_);
  auto* to = static_cast<std::byte*>(data);
  while (bytes > 0) {
    const uint32_t read = channel.read.load(std::memory_order_relaxed);
    const auto held = [&] { return size_t{channel.written.load(std::memory_order_acquire) - read}; };
    if (held() == 0)
      segment_.wait_slowly(context, peer, channel.written, channel.reader_sleeps, [&](int rank) { return rank != peer || held() > 0; });
    const size_t at = read % kChannel;
    const size_t part = std::min({bytes, held(), kChannel - at});
    move(to, device, channel.data + at, -1, part);
    segment_.publish(channel.read, read + static_cast<uint32_t>(part), channel.writer_sleeps);
    to += part;
    bytes -= part;
  }
}

void LocalBackend::send(const Context& context, const void* data, int64_t count, DType dtype, int peer, int tag) {
  segment_.check_alive(context);
  const std::lock_guard lock(box(peer).sending);
  if (context.spoiled) {
    const Header header{context.spoiled->size(), tag, 1};
    write(context, peer, &header, -1, sizeof header);
    write(context, peer, context.spoiled->data(), -1, context.spoiled->size());
    throw SpoiledError(*context.spoiled);
  }
  const Header header{static_cast<uint64_t>(count) * size_of(dtype), tag, 0};
  write(context, peer, &header, -1, sizeof header);
  write(context, peer, data, device_of(context), header.bytes);
}

void LocalBackend::recv(const Context& context, void* data, int64_t count, DType dtype, int peer, int tag) {
  segment_.check_alive(context);
  Box& box = this->box(peer);
  Channel& channel = segment_.channel(peer, rank_);
  const size_t bytes = static_cast<size_t>(count) * size_of(dtype);
  const auto check = [&](size_t sent) {
    if (sent != bytes)
      segment_.fail_all(context, tandem::str(describe(rank_), " called ", str(context.call), ", ", bytes, " bytes, but the message of ",
                                             describe(peer), " has ", sent));
  };
  const auto fail_spoiled = [&](const std::string& why) {
    throw SpoiledError(tandem::str("[recv] work of ", describe(peer), " before its send failed: ", why));
  };
  for (;;) {
    uint32_t seen = 0;  // all that had been written when the channel was found empty
    {
      const std::lock_guard lock(box.receiving);
      const auto kept = std::find_if(box.kept.begin(), box.kept.end(), [&](const Message& message) { return message.tag == tag; });
      if (kept != box.kept.end()) {
        const Message message = std::move(*kept);
        box.kept.erase(kept);
        if (message.spoiled) fail_spoiled({reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()});
        check(message.bytes.size());
        if (!context.spoiled) move(data, device_of(context), message.bytes.data(), -1, bytes);
        return;
      }
      while ((seen = channel.written.load(std::memory_order_acquire)) != channel.read.load(std::memory_order_relaxed)) {
        Header header;
        read(context, peer, &header, -1, sizeof header);
        if (header.tag == tag && !header.spoiled && !context.spoiled) {
          check(header.bytes);
          return read(context, peer, data, device_of(context), bytes);
        }
        Message& message = box.kept.emplace_back(Message{header.tag, header.spoiled != 0, std::vector<std::byte>(header.bytes)});
        read(context, peer, message.bytes.data(), -1, header.bytes);
        if (header.tag == tag) break;
      }
      if (!box.kept.empty() && box.kept.back().tag == tag) continue;
    }
    // Without the lock, so that a receiver of another tag can take its message meanwhile: that one may read ours too, and keep it for us.
    const auto news = [&] { return channel.written.load() != seen; };
    segment_.wait_slowly(context, peer, channel.written, channel.reader_sleeps, [&](int rank) { return rank != peer || news(); });
  }
}

}  // namespace tandem::comm
