#include "tools/launch/printer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/thread.h"

namespace tandem::tools {
namespace {

// A line longer than this is broken.
constexpr size_t kLongestLine = size_t{64} << 10;

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(to, text.data(), text.size());
    if (wrote > 0) {
      text.remove_prefix(static_cast<size_t>(wrote));
    } else if (wrote < 0 && errno == EAGAIN) {
      pollfd full{to, POLLOUT, 0};
      (void)poll(&full, 1, -1);
    } else if (wrote < 0 && errno != EINTR) {
      return;  // nobody reads it any more
    }
  }
}

}  // namespace

Lines::Lines(int rank) : prefix_(str("[rank ", rank, "] ")) {}

std::string Lines::add(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) {
      if (line_.size() > kLongestLine) take_line(out);
      break;
    }
    take_line(out);
    bytes.remove_prefix(end + 1);
  }
  return out;
}

std::string Lines::finish() {
  std::string out;
  if (!line_.empty()) take_line(out);
  return out;
}

void Lines::take_line(std::string& out) {
  if (line_.ends_with('\r')) line_.pop_back();
  const size_t overwritten = line_.rfind('\r');
  out += prefix_;
  out += overwritten == std::string::npos ? std::string_view(line_) : std::string_view(line_).substr(overwritten + 1);
  out += '\n';
  line_.clear();
}

Printer::Printer() : done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!done_) fail("[launch] no eventfd can be made: the process has too many open files");
  thread_ = detail::start_thread("td printer", [this] { work(); });
}

Printer::~Printer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  ready_.notify_one();
  thread_.join();
}

void Printer::print(int to, std::string text, int rank, uint32_t weight) {
  {
    const std::lock_guard lock(mutex_);
    pieces_.push_back({to, std::move(text), rank, weight});
  }
  ready_.notify_one();
}

std::vector<std::pair<int, uint32_t>> Printer::written() {
  uint64_t count = 0;
  (void)!read(done_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(written_, {});
}

void Printer::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [&] { return stop_ || !pieces_.empty(); });
    if (pieces_.empty()) return;
    const Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    lock.unlock();
    write_all(piece.to, piece.text);
    lock.lock();
    if (piece.weight == 0) continue;
    written_.emplace_back(piece.rank, piece.weight);
    const uint64_t one = 1;
    (void)!write(done_.get(), &one, sizeof one);
  }
}

}  // namespace tandem::tools
