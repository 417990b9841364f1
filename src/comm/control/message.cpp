#include "comm/control/message.h"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace tandem::comm::control {
namespace {

void append_number(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

/// A number that must fit into what the library counts ranks and processes with.
int small(uint32_t value, uint32_t most, const char* what) {
  if (value > most) fail("[control] ", what, " is ", value, ", but at most ", most, " can be");
  return static_cast<int>(value);
}

constexpr uint32_t kMostRanks = 1 << 20;

}  // namespace

Writer& Writer::number(uint32_t value) {
  append_number(message_.fields, value);
  return *this;
}

Writer& Writer::text(std::string_view value) {
  constexpr size_t kRoom = kMostBytes - 64;  // the kind, and numbers beside the text
  value = value.substr(0, kRoom - std::min(kRoom, message_.fields.size()));
  append_number(message_.fields, static_cast<uint32_t>(value.size()));
  message_.fields += value;
  return *this;
}

uint32_t Reader::number() {
  if (left_.size() < 4) fail("[control] a message ends in the middle of a number");
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<unsigned char>(left_[i])) << (8 * i);
  left_.remove_prefix(4);
  return value;
}

std::string Reader::text() {
  const uint32_t size = number();
  if (size > left_.size()) fail("[control] a message has ", left_.size(), " bytes left, but announces a text of ", size);
  std::string text(left_.substr(0, size));
  left_.remove_prefix(size);
  return text;
}

void Reader::finish() const {
  if (!left_.empty()) fail("[control] a message has ", left_.size(), " bytes too many");
}

Message encode(const Hello& hello) {
  Writer out(Kind::Hello);
  out.number(kVersion).text(hello.token).number(static_cast<uint32_t>(hello.role));
  for (const int number : {hello.rank, hello.world_size, hello.local_rank, hello.local_world_size, hello.pid, hello.port})
    out.number(static_cast<uint32_t>(number));
  return out.text(hello.host).done();
}

Hello decode_hello(const Message& message) {
  if (message.kind != Kind::Hello) fail("[control] a connection began with message ", static_cast<int>(message.kind), ", not with Hello");
  Reader in(message);
  if (const uint32_t version = in.number(); version != kVersion)
    fail("[control] the other side speaks version ", version, ", this one ", kVersion, ": use the same tandem everywhere");
  Hello hello;
  hello.token = in.text();
  hello.role = static_cast<Role>(small(in.number(), 1, "a role"));
  hello.rank = small(in.number(), kMostRanks, "a rank");
  hello.world_size = small(in.number(), kMostRanks, "a number of ranks");
  hello.local_rank = small(in.number(), kMostRanks, "a local rank");
  hello.local_world_size = small(in.number(), kMostRanks, "a number of local ranks");
  hello.pid = small(in.number(), INT32_MAX, "a process");
  hello.port = small(in.number(), 65535, "a port");
  hello.host = in.text();
  in.finish();
  if (hello.rank >= hello.world_size || hello.local_rank >= hello.local_world_size)
    fail("[control] rank ", hello.rank, " of ", hello.world_size, ", locally ", hello.local_rank, " of ", hello.local_world_size,
         ", cannot be");
  if (hello.host.size() > 255) fail("[control] a host's name has ", hello.host.size(), " bytes");
  // It goes to a terminal.
  if (!std::all_of(hello.host.begin(), hello.host.end(), [](char c) { return c > ' ' && c < 127; }))
    fail("[control] a host's name has bytes that no name has");
  return hello;
}

Message encode(const Ended& ended) { return Writer(Kind::Ended).number(ended.by_signal).number(static_cast<uint32_t>(ended.code)).done(); }

Ended decode_ended(const Message& message) {
  Reader in(message);
  const bool by_signal = in.number() != 0;
  const int code = small(in.number(), 255, "an exit status");
  in.finish();
  return {by_signal, code};
}

bool same_token(std::string_view a, std::string_view b) {
  unsigned char differences = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) differences |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differences == 0;
}

std::string make_token() {
  std::array<unsigned char, 16> random{};
  size_t have = 0;
  while (have < random.size()) {
    const ssize_t got = getrandom(random.data() + have, random.size() - have, 0);
    if (got > 0) have += static_cast<size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : random) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

}  // namespace tandem::comm::control
