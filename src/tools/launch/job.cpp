#include "tools/launch/job.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>

#include "base/error.h"
#include "base/file_limit.h"
#include "tools/launch/agent.h"
#include "tools/launch/start.h"

namespace tandem::tools {
namespace {

using comm::control::Kind;
using comm::control::Message;
using comm::control::Peer;
using comm::control::Role;
using comm::control::Writer;

constexpr size_t kKeptErrors = 4096;  // bytes of a rank's last lines, to be repeated
constexpr size_t kKeptStarter = 16384;
constexpr auto kTurn = std::chrono::milliseconds(100);
// A program that has not come to its process group by then does not listen to what the launcher says.
constexpr auto kTimeToListen = std::chrono::milliseconds(1000);
constexpr auto kStartersTime = std::chrono::seconds(10);  // to end once all agents were told to leave
// A rank fails because another one is gone: how that one ended is told by its own agent, a moment later.
constexpr auto kTimeToTell = std::chrono::milliseconds(1000);
constexpr int kStartedAtOnce = 8;  // agents, before the launcher looks at those that are there
constexpr int kMostNamed = 8;      // of the ranks that had ended before

/// The last `most` bytes, from the beginning of a line on.
void keep_last(std::string& text, size_t most) {
  if (text.size() <= most) return;
  text.erase(0, text.size() - most);
  if (const size_t line = text.find('\n'); line != std::string::npos) text.erase(0, line + 1);
}

double seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

/// Raises the limit of open files to what the launcher needs: a connection of each agent and of each rank, and a descriptor of each agent's
/// process.
int with_files(int ranks, bool mpi) {
  detail::require_files(static_cast<size_t>(ranks) * (mpi ? 2 : 3), str("[launch] ", ranks, " ranks").c_str());
  return ranks;
}

}  // namespace

Job::Job(const LaunchOptions& options, Printer& printer, int signals, int restart)
    : options_(options),
      printer_(printer),
      signals_(signals),
      server_(options.address, comm::control::make_token(), 2 * with_files(options.ranks, options.mpi),
              {[this](Peer& peer) { came(peer); }, [this](Peer& peer, const Message& message) { said(peer, message); },
               [this](Peer& peer, const std::string& why) { gone(peer, why); }}),
      grace_(options.grace_ms) {
  for (int rank = 0; rank < options.ranks; ++rank) ranks_.emplace_back(rank);
  variables_ = {{kControlVariable, server_.address().str()},
                {kTokenVariable, server_.token()},
                {kRestartVariable, std::to_string(restart)},
                {kGpusVariable, std::to_string(options.gpus_per_rank)},
                {kLostAfterVariable, std::to_string(options.lost_after_ms)}};
  began_ = alive_at_ = Clock::now();
  if (options.mpi) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("[launch] no pipe can be made: the process has too many open files");
    starter_pipe_ = Descriptor(ends[0]);
    const Descriptor to(ends[1]);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    starters_.push_back(start_mpirun(options, variables_, to.get()));
  }
}

JobOutcome Job::run() {
  while (!all_over()) {
    start_agents();
    std::vector<pollfd> others = {{signals_, POLLIN, 0}, {printer_.fd(), POLLIN, 0}, {starter_pipe_.get(), POLLIN, 0}};
    for (const auto& starter : starters_) others.push_back({starter->ended() ? -1 : starter->fd(), POLLIN, 0});
    server_.wait(starting() && !failing_since_ ? std::chrono::milliseconds(0) : kTurn, others);
    if (others[0].revents != 0) look_at_signals();
    tell_written();
    look_at_starters();
    look_for_the_lost();
    look_at_suspect();
    look_at_deadlines();
    send_alive();
  }
  for (Rank& rank : ranks_) {
    for (const int stream : {0, 1}) print_lines(rank, stream, rank.output[stream].finish(), 0);
    if (rank.agent) rank.agent->link.send({Kind::Leave, {}});
  }
  finish_starters();
  keep_recorders();
  return outcome_;
}

// --- what agents and ranks say --------------------------------------------------------------------------------------------

void Job::came(Peer& peer) {
  const comm::control::Hello& hello = peer.hello;
  if (hello.world_size != options_.ranks) fail("[launch] a rank of ", hello.world_size, " came, but there are ", options_.ranks);
  Rank& rank = ranks_[static_cast<size_t>(hello.rank)];
  Peer*& place = hello.role == Role::Agent ? rank.agent : rank.channel;
  if (place) fail("[launch] rank ", hello.rank, " is there already");
  if (hello.role == Role::Rank) {
    if (!rank.alive) fail("[launch] rank ", hello.rank, " does not run");
    place = &peer;
    if (failing_since_ && !outcome_.interrupted) peer.link.send(Writer(Kind::Lost).text(outcome_.error).done());
    return;
  }
  if (rank.came) fail("[launch] rank ", hello.rank, " was there already");
  place = &peer;
  rank.came = true;
  rank.host = hello.host;
  if (failing_since_) rank.over = true;  // it came too late, and is told to leave
  else start_ranks();
}

/// A few at a time, so that those that are there hear from the launcher meanwhile.
void Job::start_agents() {
  for (int i = 0; i < kStartedAtOnce && starting(); ++i) {
    if (failing_since_) {  // the rest is not started any more
      for (size_t rank = starters_.size(); rank < ranks_.size(); ++rank) ranks_[rank].over = true;
      return;
    }
    starters_.push_back(start_agent(options_, variables_, static_cast<int>(starters_.size())));
    began_ = Clock::now();
  }
}

void Job::start_ranks() {
  if (started_ || !std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.came; })) return;
  started_ = true;
  const Peer& first = *ranks_[0].agent;
  const Message start = Writer(Kind::Start).text(first.from.ip).number(static_cast<uint32_t>(first.hello.port)).done();
  for (Rank& rank : ranks_) {
    rank.alive = true;
    rank.agent->link.send(start);
  }
}

void Job::said(Peer& peer, const Message& message) {
  const int number = peer.hello.rank;
  Rank& rank = ranks_[static_cast<size_t>(number)];
  comm::control::Reader in(message);
  if (peer.hello.role == Role::Rank) {
    if (message.kind == Kind::Recorder) rank.recorder = in.text();
    if (message.kind == Kind::Missing) {
      const uint32_t gone = in.number();
      if (gone >= ranks_.size()) fail("[launch] rank ", number, " misses rank ", gone, " of ", ranks_.size());
      if (!missing_) missing_ = {number, static_cast<int>(gone)};
    }
    return;
  }
  switch (message.kind) {
    case Kind::Output: {
      const uint32_t to = in.number();
      const std::string bytes = in.text();
      if (to != 1 && to != 2) fail("[launch] output for descriptor ", to);
      print_lines(rank, static_cast<int>(to) - 1, rank.output[to - 1].add(bytes), static_cast<uint32_t>(bytes.size()));
      break;
    }
    case Kind::Ended: end_of(number, comm::control::decode_ended(message)); break;
    case Kind::Failed:
      rank.over = true;
      rank.alive = false;
      fail_by(number, in.text(), 1);
      break;
    default: break;
  }
}

void Job::gone(Peer& peer, const std::string& why) {
  Rank& rank = ranks_[static_cast<size_t>(peer.hello.rank)];
  if (rank.channel == &peer) rank.channel = nullptr;
  if (rank.agent != &peer) return;
  rank.agent = nullptr;
  if (std::exchange(rank.over, true)) return;
  rank.alive = false;
  fail_by(peer.hello.rank, str(name_of(peer.hello.rank), " is lost: ", why.empty() ? "the connection to its host has closed" : why), 1);
}

void Job::print_lines(Rank& rank, int stream, std::string lines, uint32_t weight) {
  if (stream == 1) {
    rank.last_errors += lines;
    keep_last(rank.last_errors, kKeptErrors);
  }
  printer_.print(stream + 1, std::move(lines), static_cast<int>(&rank - ranks_.data()), weight);
}

void Job::tell_written() {
  for (const auto& [number, bytes] : printer_.written())
    if (Peer* agent = ranks_[static_cast<size_t>(number)].agent) agent->link.send(Writer(Kind::Taken).number(bytes).done());
}

void Job::end_of(int number, const comm::control::Ended& ended) {
  Rank& rank = ranks_[static_cast<size_t>(number)];
  rank.over = true;
  rank.alive = false;
  rank.ended = ended;
  if (failing_since_ || (!ended.by_signal && ended.code == 0)) return;
  hear_ranks();
  const bool by_another = missing_ && missing_->gone != number && ranks_[static_cast<size_t>(missing_->gone)].alive;
  if (!by_another) return blame(number);
  if (suspect_ >= 0) return;
  suspect_ = number;
  suspect_until_ = Clock::now() + kTimeToTell;
}

/// What ranks themselves said before one of them ended, which is told by another way.
void Job::hear_ranks() {
  for (Rank& rank : ranks_)
    if (rank.channel) server_.hear(*rank.channel);
}

void Job::look_at_suspect() {
  if (suspect_ < 0 || failing_since_) return;
  if (!ranks_[static_cast<size_t>(missing_->gone)].alive || Clock::now() > suspect_until_) blame(suspect_);
}

/// A rank has failed. Where that followed from another one's leaving, it is that one who is named first.
void Job::blame(int number) {
  const comm::control::Ended& ended = *ranks_[static_cast<size_t>(number)].ended;
  std::string text = str(name_of(number), " ended with ", text_of(ended));
  if (missing_ && missing_->gone != number) {
    const std::optional<comm::control::Ended>& end = ranks_[static_cast<size_t>(missing_->gone)].ended;
    const std::string left = end ? str(" left early, with ", text_of(*end), ", while ") : " left its process group while ";
    text = str(name_of(missing_->gone), left, name_of(missing_->waiting), " waited for it; ", text);
  } else {
    std::string names;
    int count = 0;
    for (const Rank& rank : ranks_)
      if (rank.ended && !rank.ended->by_signal && rank.ended->code == 0 && ++count <= kMostNamed)
        names += str(count > 1 ? ", " : "", &rank - ranks_.data());
    if (count > kMostNamed) names = str(names, " and ", count - kMostNamed, " more");
    if (count > 0) text += str(", after ", count > 1 ? "ranks " : "rank ", names, " had ended with exit status 0");
  }
  fail_by(number, text, status_of(ended));
}

// --- what goes wrong ------------------------------------------------------------------------------------------------------

void Job::fail_by(int rank, const std::string& error, int status) {
  if (failing_since_) return;
  failing_since_ = Clock::now();
  first_failed_ = rank;
  outcome_.error = error;
  outcome_.status = status;
  const Message lost = Writer(Kind::Lost).text(error).done();
  for (Rank& other : ranks_) {
    if (!other.alive) {
      if (!started_ && other.came) other.over = true;
    } else if (other.channel) {
      other.channel->link.send(lost);
    }
  }
}

void Job::end_ranks(int signal) {
  hardest_ = signal;
  for (Rank& rank : ranks_)
    if (rank.alive && rank.agent) rank.agent->link.send(Writer(Kind::End).number(static_cast<uint32_t>(signal)).done());
}

void Job::look_at_starters() {
  std::array<char, 4096> bytes;
  for (ssize_t got = 0; starter_pipe_ && (got = read(starter_pipe_.get(), bytes.data(), bytes.size())) > 0;) {
    starter_output_.append(bytes.data(), static_cast<size_t>(got));
    keep_last(starter_output_, kKeptStarter);
  }
  for (size_t i = 0; i < starters_.size(); ++i) {
    const auto ended = starters_[i]->ended();
    if (!ended) continue;
    const int own = options_.mpi ? -1 : static_cast<int>(i);
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if ((own >= 0 && own != static_cast<int>(rank)) || ranks_[rank].came || std::exchange(ranks_[rank].over, true)) continue;
      fail_by(own,
              str(options_.mpi ? "mpirun" : str("the agent of ", name_of(own)), " ended before the ranks were started: ", text_of(*ended)),
              1);
    }
  }
}

void Job::look_for_the_lost() {
  const auto now = Clock::now();
  const std::chrono::milliseconds limit(options_.lost_after_ms);
  if (limit.count() > 0) {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].over || !ranks_[i].agent || now - ranks_[i].agent->heard <= limit) continue;
      // Its whole host, most likely: agents speak about as often as each other.
      std::string numbers;
      int count = 0;
      for (size_t j = 0; j < ranks_.size(); ++j)
        if (ranks_[j].host == ranks_[i].host && ranks_[j].agent && !ranks_[j].over && now - ranks_[j].agent->heard > limit / 2) {
          numbers += str(count++ > 0 ? ", " : "", j);
        }
      const std::string host = ranks_[i].host;
      lost_host_ = true;
      fail_by(static_cast<int>(i),
              str(count == 1 ? "rank " : "ranks ", numbers, " on host ", host, count == 1 ? " is" : " are",
                  " lost: nothing was heard from there for ", seconds(limit), " s"),
              1);
      for (Rank& rank : ranks_)
        if (rank.host == host && rank.agent && !rank.over && now - rank.agent->heard > limit / 2) {
          rank.over = true;
          rank.alive = false;
          if (rank.channel) server_.drop(*rank.channel, "");
          server_.drop(*rank.agent, "");
        }
    }
  }
  if (!started_ && !failing_since_ && now - began_ > std::chrono::milliseconds(options_.start_ms)) {
    std::string missing;
    for (size_t i = 0; i < ranks_.size(); ++i)
      if (!ranks_[i].came) missing += str(missing.empty() ? "" : ", ", i);
    fail_by(-1,
            str("ranks ", missing, " did not come within ", seconds(std::chrono::milliseconds(options_.start_ms)),
                " s: are their hosts up, and can they reach ", server_.address().str(), "?"),
            1);
    for (Rank& rank : ranks_)
      if (!rank.came) rank.over = true;
  }
}

void Job::look_at_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (outcome_.interrupted) {  // again: somebody is impatient
      end_ranks(SIGKILL);
      continue;
    }
    outcome_.interrupted = true;
    if (!failing_since_) {
      failing_since_ = Clock::now();
      outcome_.error = str("ended by ", text_of({true, signal}));
    }
    outcome_.status = 128 + signal;
    for (Rank& rank : ranks_)
      if (!started_) rank.over = true;
    end_ranks(signal == SIGHUP ? SIGTERM : signal);
  }
}

void Job::look_at_deadlines() {
  if (!failing_since_) return;
  const auto passed = Clock::now() - *failing_since_;
  if (passed > std::min<std::chrono::milliseconds>(kTimeToListen, grace_) && !std::exchange(deaf_ended_, true)) {
    for (Rank& rank : ranks_)
      if (rank.alive && rank.agent && !rank.channel) rank.agent->link.send(Writer(Kind::End).number(SIGTERM).done());
  }
  if (passed > grace_ && hardest_ != SIGTERM && hardest_ != SIGKILL) end_ranks(SIGTERM);
  if (passed > 2 * grace_ && hardest_ != SIGKILL) end_ranks(SIGKILL);
  if (passed > 3 * grace_)
    for (Rank& rank : ranks_) rank.over = true;
}

void Job::send_alive() {
  if (options_.lost_after_ms == 0 || Clock::now() - alive_at_ < std::chrono::milliseconds(options_.lost_after_ms / 5)) return;
  alive_at_ = Clock::now();
  for (Rank& rank : ranks_)
    if (rank.agent) rank.agent->link.send({Kind::Alive, {}});
}

// --- the end --------------------------------------------------------------------------------------------------------------

bool Job::all_over() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.over; });
}

std::string Job::name_of(int rank) const {
  const std::string& host = ranks_[static_cast<size_t>(rank)].host;
  return host.empty() || !options_.mpi ? str("rank ", rank) : str("rank ", rank, " on host ", host);
}

void Job::finish_starters() {
  // mpirun waits for hosts that are lost, which is as long as the network likes.
  if (lost_host_ || (outcome_.status != 0 && !started_))
    for (const auto& starter : starters_) starter->signal(SIGTERM);
  const auto until = Clock::now() + (lost_host_ ? std::chrono::seconds(2) : kStartersTime);
  const auto running = [](const auto& starter) { return !starter->ended(); };
  while (std::any_of(starters_.begin(), starters_.end(), running) && Clock::now() < until) {
    std::vector<pollfd> others = {{printer_.fd(), POLLIN, 0}, {starter_pipe_.get(), POLLIN, 0}};
    for (const auto& starter : starters_) others.push_back({starter->ended() ? -1 : starter->fd(), POLLIN, 0});
    server_.wait(kTurn, others);
    tell_written();
    look_at_starters();
  }
  starters_.clear();  // what still runs is killed
  if (outcome_.error.empty() || outcome_.interrupted) return;
  if (!started_ && !starter_output_.empty()) printer_.print(STDERR_FILENO, starter_output_);
  for (const Rank& rank : ranks_) {
    if (rank.recorder.empty()) continue;
    std::string last = rank.recorder;
    while (last.ends_with('\n')) last.pop_back();
    printer_.print(STDERR_FILENO, str("rank ", &rank - ranks_.data(), " was ", last.substr(last.rfind('\n') + 1), "\n"));
  }
  if (first_failed_ >= 0) printer_.print(STDERR_FILENO, ranks_[static_cast<size_t>(first_failed_)].last_errors);
}

void Job::keep_recorders() const {
  if (options_.recorders.empty()) return;
  for (const Rank& rank : ranks_) {
    if (rank.recorder.empty()) continue;
    const std::string path = str(options_.recorders, "/rank-", &rank - ranks_.data(), ".txt");
    std::ofstream file(path, std::ios::binary);
    file << rank.recorder;
    if (!file.flush()) fail("[launch] ", path, " cannot be written");
  }
}

}  // namespace tandem::tools
