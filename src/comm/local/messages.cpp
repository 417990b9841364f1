// Messages between two ranks of one machine: a ring of bytes for each pair and direction. A message is a header and its bytes; one that is
// longer than the ring passes through it in parts. What a rank sends to another one leaves in the order in which it was asked for. What
// comes goes to the first receiver that has asked for its tag, or is kept until one does. Whoever waits moves what there is to be moved,
// his own or another's, and sleeps on the rank's `mail`, which everybody rings who has changed something.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "comm/local/backend.h"
#include "runtime/virtual/driver.h"

namespace tandem::comm {
namespace {

size_t bytes_of(const Call& call) { return static_cast<size_t>(call.count()) * size_of(call.dtype); }
int device_of(const Context& context) { return context.device.is_cuda() ? context.device.index() : -1; }

void move(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (bytes == 0) return;
  if (to_device < 0 && from_device < 0) std::memcpy(to, from, bytes);
  else static_cast<runtime::virtual_gpu::VirtualDriver&>(runtime::require_driver()).copy_now(to, to_device, from, from_device, bytes);
}

}  // namespace

/// A message to another rank.
class LocalBackend::Sending final : public Transfer {
 public:
  Sending(LocalBackend& backend, const Context& context)
      : backend_(backend), context_(context), peer_(context.call.root), device_(context.spoiled ? -1 : device_of(context)) {
    header_ = {context.spoiled ? context.spoiled->size() : bytes_of(context.call), context.call.tag, context.spoiled ? 1U : 0U};
    data_ = static_cast<const std::byte*>(context.spoiled ? static_cast<const void*>(context.spoiled->data()) : context.call.in);
    Box& box = backend_.box(peer_);
    const std::lock_guard lock(box.sending);
    box.to_send.push_back(this);
  }
  ~Sending() override {
    Box& box = backend_.box(peer_);
    const std::lock_guard lock(box.sending);
    std::erase(box.to_send, this);
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  bool advance(bool look) override {
    if (!done()) backend_.send_on(peer_, this);
    if (done()) {
      if (context_.spoiled) throw SpoiledError(*context_.spoiled);
      return true;
    }
    backend_.segment_.check_alive(context_);
    if (look) backend_.segment_.check_waiting(context_, peer_, [&](int rank) { return rank != peer_; });
    return false;
  }
  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }

  /// Writes as much as there is room for. Under the box's lock. Whether that was the last of it.
  bool write() {
    while (written_ < sizeof header_ + header_.bytes) {
      const bool head = written_ < sizeof header_;
      const size_t part =
          head ? backend_.write_some(peer_, reinterpret_cast<const std::byte*>(&header_) + written_, -1, sizeof header_ - written_)
               : backend_.write_some(peer_, data_ + (written_ - sizeof header_), device_, sizeof header_ + header_.bytes - written_);
      if (part == 0) return false;
      written_ += part;
    }
    done_.store(true, std::memory_order_release);
    return true;
  }

 private:
  LocalBackend& backend_;
  const Context& context_;
  const int peer_, device_;
  Header header_;
  const std::byte* data_;
  size_t written_ = 0;
  std::atomic<bool> done_{false};
};

/// A message that is expected from another rank.
class LocalBackend::Receiving final : public Transfer {
 public:
  Receiving(LocalBackend& backend, const Context& context)
      : tag(context.call.tag),
        bytes(bytes_of(context.call)),
        backend_(backend),
        context_(context),
        data_(static_cast<std::byte*>(context.call.out)),
        peer_(context.call.root) {
    Box& box = backend_.box(peer_);
    const std::lock_guard lock(box.receiving);
    const auto kept = std::find_if(box.kept.begin(), box.kept.end(), [&](const Message& message) { return message.tag == tag; });
    if (kept == box.kept.end()) {
      box.asked.push_back(this);
      return;
    }
    take(std::move(*kept));
    box.kept.erase(kept);
  }
  ~Receiving() override {
    Box& box = backend_.box(peer_);
    const std::lock_guard lock(box.receiving);
    std::erase(box.asked, this);
    if (box.incoming.receiver != this) return;
    box.incoming.receiver = nullptr;  // the rest of it is read for nobody
    box.incoming.bytes.resize(box.incoming.header.bytes);
  }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  bool advance(bool look) override {
    if (!done()) backend_.receive_on(peer_, this);
    if (done()) return finish();
    backend_.segment_.check_alive(context_);
    if (look) backend_.segment_.check_waiting(context_, peer_, [&](int rank) { return rank != peer_ || backend_.has_mail(peer_); });
    return false;
  }
  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }

  /// Whether a message of such a length may be written to where it is expected as it comes.
  [[nodiscard]] bool takes(const Header& header) const { return !context_.spoiled && !header.spoiled && header.bytes == bytes; }
  void put(size_t at, const std::byte* from, size_t part) { move(data_ + at, device_of(context_), from, -1, part); }
  /// All of it is where it was expected.
  void set_done() { done_.store(true, std::memory_order_release); }
  /// A message that was read somewhere else.
  void take(Message message) {
    if (takes({message.bytes.size(), message.tag, message.spoiled ? 1U : 0U})) put(0, message.bytes.data(), bytes);
    else if (message.spoiled) spoiled_ = std::string(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size());
    sent_ = message.bytes.size();
    by_error_ = message.spoiled;
    set_done();
  }

  const int tag;
  const size_t bytes;

 private:
  bool finish() const {
    if (by_error_) throw SpoiledError(tandem::str("[recv] work of ", backend_.describe(peer_), " before its send failed: ", spoiled_));
    if (sent_ && *sent_ != bytes)
      backend_.segment_.fail_all(context_, tandem::str(backend_.describe(backend_.rank_), " called ", str(context_.call), ", ", bytes,
                                                       " bytes, but the message of ", backend_.describe(peer_), " has ", *sent_));
    return true;
  }

  LocalBackend& backend_;
  const Context& context_;
  std::byte* data_;
  const int peer_;
  std::optional<size_t> sent_;  // the length of one that was read somewhere else
  bool by_error_ = false;
  std::string spoiled_;  // why it has no elements
  std::atomic<bool> done_{false};
};

size_t LocalBackend::write_some(int peer, const void* data, int device, size_t bytes) {
  Channel& channel = segment_.channel(rank_, peer);
  const uint32_t written = channel.written.load(std::memory_order_relaxed);
  const size_t room = kChannel - (written - channel.read.load(std::memory_order_acquire));
  const size_t at = written % kChannel, part = std::min({bytes, room, kChannel - at});
  if (part == 0) return 0;
  move(channel.data + at, -1, data, device, part);
  channel.written.store(written + static_cast<uint32_t>(part), std::memory_order_release);
  segment_.ring(peer);
  return part;
}

size_t LocalBackend::read_some(int peer, size_t most, const std::function<void(const std::byte*, size_t)>& take) {
  Channel& channel = segment_.channel(peer, rank_);
  const uint32_t read = channel.read.load(std::memory_order_relaxed);
  const size_t held = channel.written.load(std::memory_order_acquire) - read;
  const size_t at = read % kChannel, part = std::min({most, held, kChannel - at});
  if (part == 0) return 0;
  take(channel.data + at, part);
  channel.read.store(read + static_cast<uint32_t>(part), std::memory_order_release);
  segment_.ring(peer);
  return part;
}

bool LocalBackend::has_mail(int peer) const {
  const Channel& channel = segment_.channel(peer, rank_);
  return channel.written.load(std::memory_order_acquire) != channel.read.load(std::memory_order_acquire);
}

bool LocalBackend::has_room(int peer) const {
  const Channel& channel = segment_.channel(rank_, peer);
  return channel.written.load(std::memory_order_acquire) - channel.read.load(std::memory_order_acquire) < kChannel;
}

void LocalBackend::send_on(int peer, const Sending* own) {
  bool others = false;
  {
    Box& box = this->box(peer);
    const std::lock_guard lock(box.sending);
    while (!box.to_send.empty() && box.to_send.front()->write()) {
      others |= box.to_send.front() != own;
      box.to_send.pop_front();
      if (own->done()) break;
    }
    others |= own->done() && !box.to_send.empty();
  }
  if (others) segment_.ring(rank_);
}

void LocalBackend::receive_on(int peer, const Receiving* own) {
  bool others = false;
  {
    Box& box = this->box(peer);
    const std::lock_guard lock(box.receiving);
    while (!own->done() && read_message(box, peer)) others = true;
  }
  if (others) segment_.ring(rank_);
}

// Reads on in the message that is on its way, as far as it has come. Whether it is whole now, and was given to whoever had asked for it.
bool LocalBackend::read_message(Box& box, int peer) {
  Incoming& in = box.incoming;
  while (in.header_read < sizeof in.header) {
    const size_t part = read_some(peer, sizeof in.header - in.header_read, [&](const std::byte* from, size_t bytes) {
      std::memcpy(reinterpret_cast<std::byte*>(&in.header) + in.header_read, from, bytes);
    });
    if (part == 0) return false;
    in.header_read += part;
    if (in.header_read < sizeof in.header) continue;
    const auto asked = std::find_if(box.asked.begin(), box.asked.end(), [&](const Receiving* one) { return one->tag == in.header.tag; });
    if (asked != box.asked.end() && (*asked)->takes(in.header)) {
      in.receiver = *asked;
      box.asked.erase(asked);
    } else {
      in.bytes.resize(in.header.bytes);
    }
  }
  while (in.read < in.header.bytes) {
    const size_t part = read_some(peer, in.header.bytes - in.read, [&](const std::byte* from, size_t bytes) {
      if (in.receiver) in.receiver->put(in.read, from, bytes);
      else std::memcpy(in.bytes.data() + in.read, from, bytes);
    });
    if (part == 0) return false;
    in.read += part;
  }
  Incoming whole = std::exchange(in, {});
  if (whole.receiver) {
    whole.receiver->set_done();
    return true;
  }
  Message message{whole.header.tag, whole.header.spoiled != 0, std::move(whole.bytes)};
  const auto asked = std::find_if(box.asked.begin(), box.asked.end(), [&](const Receiving* one) { return one->tag == message.tag; });
  if (asked == box.asked.end()) {
    box.kept.push_back(std::move(message));
    return true;
  }
  Receiving* const receiver = *asked;
  box.asked.erase(asked);
  receiver->take(std::move(message));
  return true;
}

void LocalBackend::run_message(const Context& context) {
  segment_.check_alive(context);
  const int peer = context.call.root;
  Seat& seat = segment_.seat(rank_);
  const auto finish = [&](auto message, auto may_go_on) {
    while (!message.advance(false))
      segment_.wait_slowly(context, peer, seat.mail, seat.mail_sleepers,
                           [&](int rank) { return rank != peer || message.done() || may_go_on(); });
  };
  if (context.call.kind == Collective::Send) finish(Sending(*this, context), [&] { return has_room(peer); });
  else finish(Receiving(*this, context), [&] { return has_mail(peer); });
}

std::unique_ptr<Transfer> LocalBackend::begin_message(const Context& context) {
  segment_.check_alive(context);
  if (context.call.kind == Collective::Send) return std::make_unique<Sending>(*this, context);
  return std::make_unique<Receiving>(*this, context);
}

}  // namespace tandem::comm
