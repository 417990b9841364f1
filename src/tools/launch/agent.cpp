#include "tools/launch/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <thread>

#include "base/env.h"
#include "base/error.h"
#include "base/number_in.h"
#include "comm/control/link.h"
#include "runtime/device.h"
#include "tools/launch/child.h"

namespace tandem::tools {
namespace {

using comm::control::Kind;
using comm::control::Message;
using Clock = std::chrono::steady_clock;

constexpr double kConnectSeconds = 30;
// Between two tries to be let in.
constexpr auto kKnockPause = std::chrono::milliseconds(20);
// A rank has ended, but something that it started keeps its output open: so long it is read on.
constexpr auto kLateOutput = std::chrono::milliseconds(500);

int number_from(const char* variable, int otherwise) {
  const auto text = environment(variable);
  if (!text) return otherwise;
  const int value = detail::number_in<int>(*text).value_or(-1);
  if (value < 0) fail("[launch] ", variable, " must be a whole number from 0 on, not '", *text, "'");
  return value;
}

std::string required(const char* variable) {
  if (auto text = environment(variable)) return *text;
  fail("[launch] ", variable, " is not set: agents are started by `tandem launch` alone");
}

/// A TCP port that is free now on the address that this host has towards the launcher.
int free_port(const comm::control::Link& link) {
  const Descriptor socket = comm::control::listen_on(comm::control::own_address(link.fd()).ip);
  return comm::control::own_address(socket.get()).port;
}

/// CUDA_VISIBLE_DEVICES for a rank that gets `count` of the devices that this process sees.
std::string devices_of(int local_rank, int local_ranks, int count) {
  const int there = cuda::device_count();
  if (there < local_ranks * count)
    fail("[launch] ", local_ranks, " ranks with ", count, count == 1 ? " GPU" : " GPUs", " each need ", local_ranks * count, " on ",
         comm::control::host_name(), ", where there are ", there,
         ": start fewer ranks there, or set TANDEM_VIRTUAL_GPUS=", local_ranks * count);
  std::vector<std::string> names;
  if (const auto chosen = environment("CUDA_VISIBLE_DEVICES")) {
    for (size_t begin = 0; begin <= chosen->size();) {
      const size_t end = std::min(chosen->find(',', begin), chosen->size());
      names.push_back(chosen->substr(begin, end - begin));
      begin = end + 1;
    }
  } else {
    for (int i = 0; i < there; ++i) names.push_back(std::to_string(i));
  }
  std::string out;
  for (int i = local_rank * count; i < (local_rank + 1) * count; ++i) out += (out.empty() ? "" : ",") + names.at(static_cast<size_t>(i));
  return out;
}

/// The reading end of a pipe whose other end is a rank's output.
struct Pipe {
  Descriptor from, to;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("[launch] no pipe can be made: the process has too many open files");
    from = Descriptor(ends[0]);
    to = Descriptor(ends[1]);
    (void)fcntl(from.get(), F_SETFL, O_NONBLOCK);
  }
};

class Agent {
 public:
  explicit Agent(const std::vector<std::string>& command)
      : command_(command),
        control_(required(kControlVariable)),
        link_(comm::control::connect_to(comm::control::parse_address(control_, kControlVariable), kConnectSeconds)),
        lost_after_(number_from(kLostAfterVariable, 0)) {
    hello_.token = required(kTokenVariable);
    if (environment(kRankVariable)) {
      hello_.rank = hello_.local_rank = number_from(kRankVariable, 0);
      hello_.world_size = hello_.local_world_size = number_from(kWorldVariable, 1);
    } else {
      hello_.rank = number_from("OMPI_COMM_WORLD_RANK", 0);
      hello_.world_size = number_from("OMPI_COMM_WORLD_SIZE", 1);
      hello_.local_rank = number_from("OMPI_COMM_WORLD_LOCAL_RANK", 0);
      hello_.local_world_size = number_from("OMPI_COMM_WORLD_LOCAL_SIZE", 1);
    }
    hello_.pid = getpid();
    hello_.port = free_port(link_);
    hello_.host = comm::control::host_name();
  }

  int run() {
    link_.send(encode(hello_));
    began_ = heard_ = said_ = Clock::now();
    while (!left_) turn();
    return 0;
  }

 private:
  void turn() {
    std::array<pollfd, 4> waiting{};
    waiting[0] = {link_.fd(), static_cast<short>(POLLIN | (link_.sending() ? POLLOUT : 0)), 0};
    waiting[1] = {child_ && !child_->ended() ? child_->fd() : -1, POLLIN, 0};
    const bool may_read = unwritten_ < kOutputWindow;
    for (size_t i = 0; i < 2; ++i) waiting[2 + i] = {may_read ? outputs_[i].get() : -1, POLLIN, 0};
    if (poll(waiting.data(), waiting.size(), 100) < 0) return;
    if (waiting[0].revents & POLLOUT) link_.flush();
    if (waiting[0].revents & ~POLLOUT) listen();
    for (size_t i = 0; i < 2; ++i)
      if (waiting[2 + i].revents != 0) read_output(i);
    look_at_child();
    look_at_clock();
  }

  void listen() {
    const bool open = link_.receive();
    while (const auto message = link_.next()) {
      heard_ = Clock::now();
      obey(*message);
    }
    if (open || left_) return;
    if (welcome_ || Clock::now() - began_ > std::chrono::duration<double>(kConnectSeconds))
      give_up(str("the launcher at ", control_, welcome_ ? " has ended" : " lets nobody in"));
    // Closed to make room for somebody else.
    std::this_thread::sleep_for(kKnockPause);
    link_ = comm::control::Link(comm::control::connect_to(comm::control::parse_address(control_, kControlVariable), kConnectSeconds));
    link_.send(encode(hello_));
  }

  void obey(const Message& message) {
    comm::control::Reader in(message);
    if (message.kind == Kind::Refused) give_up(str("the launcher at ", control_, " refused it: ", in.text()));
    welcome_ = true;
    switch (message.kind) {
      case Kind::Start: {
        const std::string address = in.text();
        start(address, static_cast<int>(in.number()));
        break;
      }
      case Kind::Taken: unwritten_ -= std::min<size_t>(unwritten_, in.number()); break;
      case Kind::End:
        if (const auto number = static_cast<int>(in.number()); child_ && number > 0 && number < NSIG) child_->signal(number);
        break;
      case Kind::Leave: left_ = true; break;
      default: break;
    }
  }

  void start(const std::string& master_address, int master_port) {
    if (child_) return;
    ChildOptions options;
    options.command = command_;
    options.variables = {{"RANK", std::to_string(hello_.rank)},
                         {"WORLD_SIZE", std::to_string(hello_.world_size)},
                         {"LOCAL_RANK", std::to_string(hello_.local_rank)},
                         {"LOCAL_WORLD_SIZE", std::to_string(hello_.local_world_size)},
                         {"MASTER_ADDR", master_address},
                         {"MASTER_PORT", std::to_string(master_port)}};
    try {
      if (const int gpus = number_from(kGpusVariable, 0); gpus > 0)
        options.variables["CUDA_VISIBLE_DEVICES"] = devices_of(hello_.local_rank, hello_.local_world_size, gpus);
      std::array<Pipe, 2> pipes;
      options.output = pipes[0].to.get();
      options.errors = pipes[1].to.get();
      child_.emplace(options);
      for (size_t i = 0; i < 2; ++i) outputs_[i] = std::move(pipes[i].from);
    } catch (const Error& error) {
      link_.send(comm::control::Writer(Kind::Failed).text(error.what()).done());
    }
  }

  void read_output(size_t stream) {
    std::array<char, 32768> bytes;
    const ssize_t got = read(outputs_[stream].get(), bytes.data(), bytes.size());
    if (got > 0) {
      unwritten_ += static_cast<size_t>(got);
      link_.send(comm::control::Writer(Kind::Output)
                     .number(static_cast<uint32_t>(stream + 1))
                     .text({bytes.data(), static_cast<size_t>(got)})
                     .done());
      said_ = Clock::now();
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      outputs_[stream].reset();
    }
  }

  /// Tells how the rank ended, once all it wrote has been sent.
  void look_at_child() {
    if (!child_ || told_) return;
    const auto ended = child_->ended();
    if (!ended) return;
    if (!ended_at_) ended_at_ = Clock::now();
    const bool all_read = !outputs_[0] && !outputs_[1];
    if (!all_read && (unwritten_ >= kOutputWindow || Clock::now() - *ended_at_ < kLateOutput)) return;
    child_->signal(SIGKILL);  // what it started and left behind
    link_.send(encode(*ended));
    told_ = true;
  }

  void look_at_clock() {
    if (lost_after_.count() == 0) return;
    const auto now = Clock::now();
    if (now - heard_ > lost_after_)
      give_up(str("nothing was heard from the launcher at ", control_, " for ", static_cast<double>(lost_after_.count()) / 1000, " s"));
    if (now - said_ > lost_after_ / 5) {
      link_.send({Kind::Alive, {}});
      said_ = now;
    }
  }

  /// There is nobody left to report to: the rank ends, too.
  [[noreturn]] void give_up(const std::string& why) {
    child_.reset();
    fail("[launch] rank ", hello_.rank, " on ", hello_.host, " ends: ", why);
  }

  const std::vector<std::string>& command_;
  std::string control_;
  comm::control::Link link_;
  std::chrono::milliseconds lost_after_;
  comm::control::Hello hello_;
  std::optional<Child> child_;
  std::array<Descriptor, 2> outputs_;
  size_t unwritten_ = 0;  // bytes of output that the launcher has not written yet
  Clock::time_point began_, heard_, said_;
  std::optional<Clock::time_point> ended_at_;
  bool welcome_ = false, told_ = false, left_ = false;
};

}  // namespace

int run_agent(const std::vector<std::string>& command) {
  // The launcher says when to end; where it is gone, its silence does.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) (void)std::signal(number, SIG_IGN);
  return Agent(command).run();
}

}  // namespace tandem::tools
