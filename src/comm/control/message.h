// What launcher, agents and ranks tell each other: small messages over TCP. A message on the wire is its length (4 bytes, little-endian, of
// what follows), its kind (1 byte), and its fields: numbers of 4 bytes, texts as a length and their bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::comm::control {

enum class Kind : uint8_t {
  Hello = 1,  // agent or rank: who it is; the first message of a connection
  Welcome,    // launcher: who you are is known; until then a connection may be closed to make room, and is to be made again
  Refused,    // launcher: why a Hello is not taken; asking again does not help
  Start,      // launcher to agent: every rank is there, start yours
  Alive,      // launcher and agents: nothing else to say
  Output,     // agent: bytes that its rank wrote
  Taken,      // launcher to agent: so many bytes of output have been written
  Ended,      // agent: how its rank ended
  Failed,     // agent: its rank could not be started
  Lost,       // launcher to ranks: the job cannot go on, and why
  Recorder,   // rank: its last collectives, as text; the answer to Lost
  Missing,    // rank: another one, by its number, is gone while this one waits for it
  End,        // launcher to agent: end your rank by this signal
  Leave,      // launcher to agent: nothing more is wanted
};

/// The longest message, kind and fields together.
inline constexpr size_t kMostBytes = size_t{64} << 10;
/// The version of these messages, which both sides must share.
inline constexpr uint32_t kVersion = 2;

/// A message: what it is, and its fields as they travel.
struct Message {
  Kind kind;
  std::string fields;
};

/// Joins the fields of a message.
class Writer {
 public:
  explicit Writer(Kind kind) : message_{kind, {}} {}
  Writer& number(uint32_t value);
  /// Texts that would make the message too long are cut off.
  Writer& text(std::string_view value);
  [[nodiscard]] Message done() { return std::move(message_); }

 private:
  Message message_;
};

/// Takes the fields of a message apart. Nothing in it is trusted: a field that is not there is an Error.
class Reader {
 public:
  explicit Reader(const Message& message) : left_(message.fields) {}
  [[nodiscard]] uint32_t number();
  [[nodiscard]] std::string text();
  /// Error where fields are left over.
  void finish() const;

 private:
  std::string_view left_;
};

/// Who speaks on a connection.
enum class Role : uint32_t { Agent = 0, Rank = 1 };

/// The first message of a connection.
struct Hello {
  std::string token;  // of the launch: who does not know it is refused
  Role role = Role::Agent;
  int rank = 0, world_size = 1;
  int local_rank = 0, local_world_size = 1;
  int pid = 0;
  int port = 0;      // agent: a TCP port that was free on its host, for MASTER_PORT
  std::string host;  // its name
};
[[nodiscard]] Message encode(const Hello& hello);
/// Error for anything but a Hello of this version with ranks that can be.
[[nodiscard]] Hello decode_hello(const Message& message);

/// How a rank ended.
struct Ended {
  bool by_signal = false;
  int code = 0;  // the exit status, or the signal's number
};
[[nodiscard]] Message encode(const Ended& ended);
[[nodiscard]] Ended decode_ended(const Message& message);

/// Whether two texts are the same, in a time that does not tell where they differ.
[[nodiscard]] bool same_token(std::string_view a, std::string_view b);
/// 128 random bits as 32 hexadecimal digits.
[[nodiscard]] std::string make_token();

}  // namespace tandem::comm::control
