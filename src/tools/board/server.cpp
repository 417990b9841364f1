// What is asked for names a run by its number, and tags and steps of it; a path is never taken from a request.
#include "tools/board/server.h"

#include <httplib.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/json_text.h"
#include "base/number_in.h"
#include "io/event_reader.h"
#include "observe/smi/smi.h"
#include "tools/board/assets.h"
#include "tools/board/timeline.h"
#include "tools/command.h"

namespace tandem::tools::board {
namespace {

using httplib::Request;
using httplib::Response;
using nlohmann::ordered_json;

constexpr size_t kThreads = 32, kMostRunsAsked = 1000, kMostPoints = 5000, kSteps = 20;
constexpr size_t kMostLedger = 64 << 10, kMostReport = size_t{32} << 20, kPiece = size_t{1} << 20;
constexpr int kSecondsForAClient = 5;
// Nothing from elsewhere, nothing inline, in no frame.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action "
    "'none'; "
    "frame-ancestors 'none'";
// A report is a file of the run's: its scripts run, but in a place of their own, from where this server cannot be asked.
constexpr const char* kReportPolicy =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

std::string make_token() {
  std::array<unsigned char, 16> bytes = {};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail("board: no random numbers can be had");
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4U];
    token += "0123456789abcdef"[byte & 15U];
  }
  return token;
}

/// Takes as long wherever they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differences = 0;
  for (size_t i = 0; i < a.size(); ++i) differences |= static_cast<unsigned>(a[i] ^ b[i]);
  return differences == 0;
}

std::vector<int> runs_in(const Request& request) {
  std::vector<int> runs;
  const std::string list = request.get_param_value("runs");
  for (size_t begin = 0; begin < list.size() && runs.size() < kMostRunsAsked;) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (const auto number = detail::number_in<int>(std::string_view(list).substr(begin, end - begin))) runs.push_back(*number);
    begin = end + 1;
  }
  return runs;
}

ordered_json devices() {
  ordered_json all = ordered_json::array();
  const auto gauge = [](std::optional<int> value) { return value ? ordered_json(*value) : ordered_json(nullptr); };
  for (const smi::Gpu& gpu : smi::query_all()) {
    ordered_json processes = ordered_json::array();
    for (const smi::Process& process : gpu.processes)
      processes.push_back({{"pid", process.pid}, {"name", process.name}, {"memory_used", process.memory_used}});
    all.push_back({{"index", gpu.index},
                   {"name", gpu.name},
                   {"program", gpu.is_virtual ? ordered_json(gpu.program) : ordered_json(nullptr)},
                   {"memory_total", gpu.memory_total},
                   {"memory_used", gpu.memory_used},
                   {"utilization", gauge(gpu.utilization)},
                   {"processes", std::move(processes)}});
  }
  return all;
}

std::string picture_type(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (bytes.starts_with("GIF8")) return "image/gif";
  return "";
}

/// Sends a text as it is. Response::set_content would compress it with Brotli at its slowest for a browser: a second for the state of 500
/// runs, and nothing gained on one machine.
void send(Response& response, std::string text, const std::string& type) {
  if (text.empty()) return response.set_content(text, type);
  const auto kept = std::make_shared<const std::string>(std::move(text));
  response.set_content_provider(kept->size(), type, [kept](size_t offset, size_t length, httplib::DataSink& sink) {
    return sink.write(kept->data() + offset, length);
  });
}

/// The end of a text file, from a whole line on.
std::string end_of(const std::filesystem::path& path, size_t most) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return "";
  std::string text = io::read_part("board", path.string(), size > most ? size - most : 0, most);
  if (size > most) text.erase(0, text.find('\n') + 1);
  return text;
}

}  // namespace

struct Server::State {
  explicit State(Store& s) : store(s) {}

  Store& store;
  httplib::Server http;
  std::string token = make_token(), address;
  std::vector<std::string> hosts;  // that the browser may have called us by

  void refuse(Response& response, int status, const char* text) const {
    response.status = status;
    response.set_content(text, "text/plain; charset=utf-8");
  }

  /// Only a page of ours may ask, or a person who has the address. Another site's page that reaches us under a name of its own (DNS
  /// rebinding) has that name as its host.
  bool admits(const Request& request, Response& response) const {
    const std::string host = request.get_header_value("Host"), origin = request.get_header_value("Origin");
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) return refuse(response, 403, "another host is meant\n"), false;
    if (!origin.empty() && origin != "http://" + host) return refuse(response, 403, "another site asks\n"), false;
    if (!site.empty() && site != "same-origin" && site != "none") return refuse(response, 403, "another site asks\n"), false;
    if (request.method != "GET" && request.method != "HEAD") return refuse(response, 405, "there is only reading here\n"), false;
    if (!same(std::string_view(request.path).substr(0, token.size() + 2), "/" + token + "/"))
      return refuse(response, 403, "The address has a token, which `tandem board` prints where it is started.\n"), false;
    return true;
  }

  void json(Response& response, const ordered_json& document) const { send(response, detail::json_text(document), "application/json"); }

  /// The file itself, a piece at a time, to be kept under a name of its own.
  void send_trace(const std::filesystem::path& path, Response& response) const {
    std::error_code error;
    const auto size = path.empty() ? 0 : std::filesystem::file_size(path, error);
    if (size == 0 || error) return refuse(response, 404, "this run has no trace\n");
    response.set_header("Content-Disposition", "attachment; filename=\"trace.json\"");
    response.set_content_provider(size, "application/json", [path](size_t offset, size_t length, httplib::DataSink& sink) {
      const std::string piece = io::read_part("board", path.string(), offset, std::min(length, kPiece));
      return !piece.empty() && sink.write(piece.data(), piece.size());
    });
  }

  void answer(const Request& request, Response& response) const {
    const std::string what = request.path.substr(token.size() + 2);
    const std::string tag = request.get_param_value("tag");
    const auto number_of = [&](const char* name) { return detail::number_in<int64_t>(request.get_param_value(name)); };
    const int run = static_cast<int>(number_of("run").value_or(-1));
    if (const Asset* const file = asset(what)) {
      send(response, std::string(file->text), std::string(file->type));
    } else if (what == "state") {
      json(response, store.state(detail::number_in<uint64_t>(request.get_param_value("since")).value_or(0)));
    } else if (what == "curves") {
      const auto points = static_cast<size_t>(std::clamp<int64_t>(number_of("points").value_or(400), 4, kMostPoints));
      const int64_t from = number_of("from").value_or(std::numeric_limits<int64_t>::min());
      const int64_t to = number_of("to").value_or(std::numeric_limits<int64_t>::max());
      json(response, store.curves(tag, runs_in(request), points, from, to));
    } else if (what == "pictures") {
      json(response, store.steps_of_pictures(tag, runs_in(request)));
    } else if (what == "picture") {
      const std::string bytes = store.picture(tag, run, number_of("step").value_or(-1)), type = picture_type(bytes);
      if (type.empty()) refuse(response, 404, "there is no such picture\n");
      else response.set_content(bytes, type);
    } else if (what == "histograms") {
      json(response, store.histograms(tag, run, kSteps));
    } else if (what == "texts") {
      json(response, store.texts(run));
    } else if (what == "devices") {
      json(response, devices());
    } else if (what == "ledger") {
      const auto path = store.file_of(run, "ledger.txt");
      json(response, path.empty() ? ordered_json(nullptr) : ordered_json(end_of(path, kMostLedger)));
    } else if (what == "timeline") {
      const auto path = store.file_of(run, "trace.json");
      json(response, path.empty() ? ordered_json(nullptr) : timeline_of(path.string()));
    } else if (what == "trace") {
      send_trace(store.file_of(run, "trace.json"), response);
    } else if (what == "report") {
      const auto path = store.file_of(run, "report.html");
      if (path.empty()) return refuse(response, 404, "this run has no report\n");
      send(response, io::read_part("board", path.string(), 0, kMostReport), "text/html; charset=utf-8");
      response.set_header("Content-Security-Policy", kReportPolicy);
    } else {
      refuse(response, 404, "there is nothing of that name\n");
    }
  }
};

Server::Server(Store& store, int port) : state_(std::make_unique<State>(store)) {
  httplib::Server& http = state_->http;
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // the server owns it
  http.set_read_timeout(kSecondsForAClient);
  http.set_write_timeout(kSecondsForAClient);
  http.set_payload_max_length(1024);
  http.set_tcp_nodelay(true);
  http.set_keep_alive_max_count(1000);
  // Without SO_REUSEPORT, which the library sets otherwise: a second board on a port would be given half of the first one's browsers.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  http.set_pre_routing_handler([this](const Request& request, Response& response) {
    response.set_header("Content-Security-Policy", kPolicy);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Cache-Control", "no-store");
    if (!state_->admits(request, response)) return httplib::Server::HandlerResponse::Handled;
    try {
      response.headers.erase("Content-Security-Policy");
      state_->answer(request, response);
      if (!response.has_header("Content-Security-Policy")) response.set_header("Content-Security-Policy", kPolicy);
    } catch (const std::exception& e) {
      state_->refuse(response, 404, (std::string(e.what()) + "\n").c_str());
    }
    return httplib::Server::HandlerResponse::Handled;
  });
  const int bound = port ? (http.bind_to_port("127.0.0.1", port) ? port : -1) : http.bind_to_any_port("127.0.0.1");
  if (bound <= 0)
    fail<UsageError>("board: port ", port,
                     " of 127.0.0.1 cannot be had: another program has it, or it needs rights; --port 0 takes one that is free");
  for (const char* name : {"127.0.0.1", "localhost"}) {
    state_->hosts.push_back(str(name, ":", bound));
    if (bound == 80) state_->hosts.emplace_back(name);
  }
  state_->address = str("http://127.0.0.1:", bound, "/", state_->token, "/");
}

Server::~Server() = default;

const std::string& Server::address() const { return state_->address; }
void Server::run() { state_->http.listen_after_bind(); }
void Server::stop() { state_->http.stop(); }

}  // namespace tandem::tools::board
