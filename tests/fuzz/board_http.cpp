// What the board's server makes of bytes that a program of this machine sends it. In the input, TOKEN stands for the token and HOST for the
// address, without which nothing is told; beside the run there are files that no request may reach.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/descriptor.h"
#include "fuzz.h"
#include "io/event_file.h"
#include "io/protobuf.h"
#include "ops/creation.h"
#include "tools/board/assets.h"
#include "tools/board/server.h"
#include "train/summary_writer.h"

namespace tandem::tools::board {

const Asset* asset(std::string_view name) {
  static const Asset page{"", "text/html; charset=utf-8", "<!DOCTYPE html>"};
  return name.empty() ? &page : nullptr;
}

}  // namespace tandem::tools::board

namespace {

namespace fs = std::filesystem;
using namespace tandem::tools::board;

constexpr const char* kSecret = "not to be served";

/// A run with what a picture's bytes may begin with, and with a trace that is none.
void make_broken_run(const fs::path& run) {
  fs::create_directories(run);
  int64_t step = 0;
  std::string events;
  for (const char* picture : {"\xff\xd8\xff a photo", "GIF89a", "no picture"}) {
    tandem::io::Message image, value, summary, event;
    value.bytes(1, "picture").message(4, image.bytes(4, picture));
    events += tandem::io::event_frame(event.integer(2, ++step).message(5, summary.message(1, value)).str());
  }
  std::ofstream(run / "events.out.tfevents.1", std::ios::binary) << events;
  std::ofstream(run / "trace.json") << "{";
}

fs::path make_runs() {
  const fs::path& folder = fuzz::folder();
  const fs::path run = folder / "runs" / "a";
  fs::create_directories(run);
  {
    tandem::train::SummaryWriter writer(run.string());
    for (int step = 0; step < 100; ++step) writer.add_scalar("loss", 1.0 / (step + 1), step);
    writer.add_image("picture", tandem::zeros({3, 4, 4}), 1);
    writer.add_histogram("weights", tandem::arange(100), 1);
    writer.add_text("note", "a text", 1);
  }
  std::ofstream(run / "ledger.txt") << "a line\n";
  std::ofstream(run / "trace.json") << R"({"traceEvents": [{"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]})";
  std::ofstream(run / "report.html") << "<p>a report</p>";
  std::ofstream(run / "settings.json") << kSecret;
  make_broken_run(folder / "runs" / "b");
  make_broken_run(folder / "runs" / "c");
  std::ofstream(folder / "other.txt") << kSecret;
  return folder;
}

/// The server of a run, for as long as the program lives.
struct Board {
  Board() {
    store.read_all();
    fs::remove_all(folder / "runs" / "c");  // as somebody who wants no more of it
    store.read_all();
    const std::string& address = server.address();  // http://127.0.0.1:PORT/TOKEN/
    const size_t host_at = address.find("//") + 2, path_at = address.find('/', host_at);
    host = address.substr(host_at, path_at - host_at);
    token = address.substr(path_at + 1, address.size() - path_at - 2);
    const size_t colon = host.find(':');
    std::from_chars(host.data() + colon + 1, host.data() + host.size(), port);
    std::thread([this] { server.run(); }).detach();
  }
  fs::path folder = make_runs();
  Store store{(folder / "runs").string()};
  Server server{store, 0};
  std::string host, token;
  uint16_t port = 0;
};

void replace(std::string& text, std::string_view word, const std::string& by) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) text.replace(at, word.size(), by);
}

/// What is answered until the server closes.
std::string answer_to(uint16_t port, const std::string& request) {
  const tandem::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  fuzz::expect(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "the board lets nobody connect");
  (void)send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  (void)shutdown(socket.get(), SHUT_WR);
  std::string answer;
  std::array<char, 16384> bytes;
  for (ssize_t got = 0; (got = recv(socket.get(), bytes.data(), bytes.size(), 0)) > 0;) {
    answer.append(bytes.data(), static_cast<size_t>(got));
    fuzz::expect(answer.size() < size_t{16} << 20, "an answer without an end");
  }
  const linger reset{1, 0};
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  return answer;
}

}  // namespace

void fuzz::read(std::string_view bytes) {
  static auto* board = new Board;  // its threads go on until the program is gone
  std::string request(bytes);
  const bool knows = request.find("TOKEN") != std::string::npos;
  replace(request, "TOKEN", board->token);
  replace(request, "HOST", board->host);
  const std::string answer = answer_to(board->port, request);
  expect(knows || answer.find(" 200 ") == std::string::npos, "something is told to somebody without the token");
  expect(answer.find(kSecret) == std::string::npos, "a file is served that belongs to no run's page");
}
