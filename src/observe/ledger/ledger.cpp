// An observer of copies, waits and collectives. It is one for all recorders and guards, and is told only while there is one.
#include "observe/ledger/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>

#include "base/env.h"
#include "base/fork.h"
#include "observe/ledger/ledger_report.h"
#include "runtime/observer.h"
#include "runtime/stream_record.h"

namespace tandem::ledger {

using tandem::detail::ForkSafeMutex;
using tandem::detail::wait_scope;
using tandem::detail::WaitScope;
using Clock = std::chrono::steady_clock;
namespace facts = runtime::facts;

struct Recorder::State {
  std::deque<Entry> entries;  // under the book's mutex; what is there is never moved
};

namespace {

/// What has begun on the calling thread and has not ended, one within the other.
struct Begun {
  const void* fact = nullptr;
  Clock::time_point when;
};
thread_local constinit std::array<Begun, 2> begun{};  // a copy or a wait, and in it the wait for a place in the queue
thread_local constinit size_t begun_count = 0;

void push(const void* fact) {
  if (begun_count == begun.size()) begun_count = 0;  // their ends were never told: nobody was being told then
  begun[begun_count++] = {fact, Clock::now()};
}

/// How long ago the fact began; nothing where that was not told.
std::optional<std::chrono::nanoseconds> pop(const void* fact) {
  const auto now = Clock::now();
  for (size_t i = begun_count; i-- > 0;) {
    if (begun[i].fact != fact) continue;
    begun_count = i;
    return now - begun[i].when;
  }
  return {};
}

/// Where the calling thread launched a kernel last.
thread_local constinit Site last_work = Site::none();

Kind kind_of(const facts::Copy& copy) {
  switch (copy.reason) {
    case runtime::CopyReason::Item: return Kind::Item;
    case runtime::CopyReason::Printing: return Kind::Printing;
    case runtime::CopyReason::Condition: return Kind::Condition;
    case runtime::CopyReason::Values: return Kind::Values;
    case runtime::CopyReason::Asked: break;
  }
  if (!copy.waits || (copy.from_device.is_cuda() && copy.to_device.is_cuda())) return Kind::Copy;
  if (copy.non_blocking) return Kind::Pageable;
  return copy.to_device.is_cuda() ? Kind::Upload : Kind::Download;
}

Kind kind_of(const facts::Wait& wait) {
  switch (wait.kind) {
    case facts::Wait::Memory: return Kind::Memory;
    case facts::Wait::Collective: return Kind::Collective;
    case facts::Wait::Queue: return Kind::FullQueue;
    default: return Kind::Synchronize;
  }
}

Entry entry_of(const facts::Copy& copy) {
  Entry entry{.kind = kind_of(copy), .op = copy.op, .from = copy.from_device, .to = copy.to_device, .bytes = copy.bytes};
  entry.pinned = copy.from_pinned || copy.to_pinned;
  entry.blocking = copy.waits;
  entry.asked_non_blocking = copy.non_blocking;
  if (copy.stream) entry.stream = copy.stream->id;
  return entry;
}
Entry entry_of(const facts::Wait& wait) {
  Entry entry{.kind = kind_of(wait), .op = wait.op, .from = wait.device, .to = wait.device};
  if (wait.stream) entry.stream = wait.stream->id;
  return entry;
}
Entry entry_of(const facts::Collective& collective) {
  return {.kind = Kind::Collective, .op = collective.op, .from = collective.device, .to = collective.device};
}

/// The scope's text, and the line that is answerable.
void set_site(Entry& entry, Site site) {
  const WaitScope& scope = wait_scope;
  entry.reason = scope.reason;
  entry.own = scope.own;
  if (scope.own && scope.site.line != 0) site = scope.site;
  if (site.line == 0 && last_work.line != 0) {
    site = last_work;
    entry.behind_line = true;
  }
  entry.file = site.file;
  entry.line = site.line;
}

std::atomic<WaitScope::Mode> environments_mode{WaitScope::Allow};

WaitScope::Mode mode_now() {
  return wait_scope.mode == WaitScope::Unset ? environments_mode.load(std::memory_order_relaxed) : wait_scope.mode;
}

/// What the calling thread is about to wait for; nothing where it is no user's business.
template <class Fact>
std::optional<Entry> wait_ahead(const Fact& fact) {
  Entry entry = entry_of(fact);
  if (entry.kind == Kind::FullQueue || entry.kind == Kind::Collective) return std::nullopt;
  entry.thread = std::this_thread::get_id();
  set_site(entry, fact.site);
  return entry;
}

/// Throws where the calling thread must not wait.
template <class Fact>
void check_allowed(const Fact& fact) {
  if (mode_now() != WaitScope::Forbid || wait_scope.own) return;
  const std::optional<Entry> ahead = wait_ahead(fact);
  if (!ahead) return;
  const Entry& entry = *ahead;
  const std::string where = entry.line ? str(" at ", entry.file, ':', entry.line, entry.behind_line ? " or behind it" : "") : std::string();
  const std::string what = entry.bytes ? str("for ", entry.bytes, " bytes from ", entry.from, " to ", entry.to) : str("for ", entry.from);
  const Site guard = wait_scope.site;
  const std::string by = wait_scope.mode == WaitScope::Forbid ? str("the ledger's guard of ", guard.file, ':', guard.line)
                                                              : std::string("TANDEM_LEDGER=forbid");
  fail<ForbiddenError>('[', entry.op, "] the host would wait ", what, where, ", which ", by, " forbids: ", advice(entry.kind), "; or ",
                       Hint("allow it here by ledger::Guard(ledger::Mode::allow)", "allow it here by ledger.Guard('allow')"));
}

}  // namespace

using Listener = std::function<void(const Entry&)>;

/// The observer, and everybody who wants to know.
class Book final : public runtime::Observer {
 public:
  static Book& the() {
    static auto* book = new Book;  // not destroyed: static objects may still wait for something
    return *book;
  }

  void add(Recorder::State* state) {
    watch();
    const std::lock_guard lock(mutex_);
    recorders_.push_back(state);
  }
  void remove(Recorder::State* state) noexcept {
    {
      const std::lock_guard lock(mutex_);
      std::erase(recorders_, state);
    }
    unwatch();
  }
  [[nodiscard]] std::vector<Entry> entries(const Recorder::State& state) {
    const std::lock_guard lock(mutex_);
    return {state.entries.begin(), state.entries.end()};
  }
  void clear(Recorder::State& state) {
    const std::lock_guard lock(mutex_);
    state.entries.clear();
  }
  void watch() {
    const std::lock_guard lock(watchers_mutex_);
    if (watchers_++ == 0) runtime::add_observer(*this);
  }
  void unwatch() noexcept {
    if (getpid() != process_) return;  // a forked child: nobody is told there
    const std::lock_guard lock(watchers_mutex_);
    if (--watchers_ == 0) runtime::remove_observer(*this);
  }
  [[nodiscard]] std::string log_text() {
    const std::lock_guard lock(mutex_);
    return log_.empty() ? std::string() : log_.text();
  }
  /// The same text for every equal one, for ever.
  [[nodiscard]] const char* kept(std::string_view text) {
    if (text.empty()) return "";
    const std::lock_guard lock(mutex_);
    return reasons_.emplace(text).first->c_str();
  }

  void set_listener(std::shared_ptr<const Listener> listener) {
    if (listener) watch();
    {
      const std::lock_guard lock(mutex_);
      listener_.swap(listener);
    }
    if (listener) unwatch();
  }

  void allow(const facts::Copy& copy) override {
    if (copy.waits) before(copy);
  }
  void allow(const facts::Wait& wait) override { before(wait); }
  void begin(const facts::Kernel& kernel) noexcept override {
    if (kernel.site.line != 0) last_work = kernel.site;
  }
  void begin(const facts::Copy& copy) noexcept override { push(&copy); }
  void end(const facts::Copy& copy) noexcept override { enter(copy); }
  void begin(const facts::Wait& wait) noexcept override { push(&wait); }
  void end(const facts::Wait& wait) noexcept override { enter(wait); }
  void begin(const facts::Collective& collective) noexcept override {
    if (collective.waits) push(&collective);
  }
  void end(const facts::Collective& collective) noexcept override {
    if (collective.waits) enter(collective);
  }

 private:
  template <class Fact>
  void before(const Fact& fact) {
    check_allowed(fact);
    std::shared_ptr<const Listener> listener;
    {
      const std::lock_guard lock(mutex_);
      listener = listener_;
    }
    if (!listener) return;
    if (const std::optional<Entry> entry = wait_ahead(fact)) (*listener)(*entry);
  }
  template <class Fact>
  void enter(const Fact& fact) noexcept {
    const auto time = pop(&fact);
    if (!time) return;
    Entry entry = entry_of(fact);
    if (entry.blocking) entry.waited = *time;
    entry.thread = std::this_thread::get_id();
    set_site(entry, fact.site);
    const bool logged = mode_now() == WaitScope::Log || environments_mode.load(std::memory_order_relaxed) == WaitScope::Log;
    const std::lock_guard lock(mutex_);
    try {
      if (logged) log_.add(entry);
      for (Recorder::State* recorder : recorders_) recorder->entries.push_back(entry);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): an entry less
    }
  }

  const pid_t process_ = getpid();
  std::mutex watchers_mutex_;  // around the observer's coming and going
  int watchers_ = 0;
  ForkSafeMutex mutex_;  // around all below
  std::vector<Recorder::State*> recorders_;
  std::shared_ptr<const Listener> listener_;  // called before waits
  detail::Table log_;
  std::set<std::string, std::less<>> reasons_;
};

Recorder::Recorder() : state_(std::make_unique<State>()) { Book::the().add(state_.get()); }
Recorder::~Recorder() { Book::the().remove(state_.get()); }
std::vector<Entry> Recorder::entries() const { return Book::the().entries(*state_); }
void Recorder::clear() { Book::the().clear(*state_); }

Guard::Watching::Watching(bool given) : needed(given) {
  if (needed) Book::the().watch();
}
Guard::Watching::~Watching() {
  if (needed) Book::the().unwatch();
}

Guard::Guard(Mode mode, std::string_view reason, Site site)
    : watching_(mode != Mode::allow),
      scope_({mode == Mode::allow ? WaitScope::Allow
              : mode == Mode::log ? WaitScope::Log
                                  : WaitScope::Forbid,
              false, Book::the().kept(reason), site}) {}

void call_before_waits(std::function<void(const Entry&)> f) {
  Book::the().set_listener(f ? std::make_shared<const Listener>(std::move(f)) : nullptr);
}

std::string log_report() { return Book::the().log_text(); }

std::string detail::report_of_waits(const Recorder& recorder) {
  std::vector<Entry> waits = recorder.entries();
  std::erase_if(waits, [](const Entry& entry) { return !entry.blocking || entry.own || entry.kind == Kind::FullQueue; });
  return waits.empty() ? std::string() : report(waits);
}

namespace {

constexpr const char* kVariable = "TANDEM_LEDGER";

struct Output {
  pid_t process;
  std::string path;  // "": standard error
};

/// One write: several programs may share a file, whose folder is made where it is not there. Of no text: only whether it can be opened.
bool write_out(const Output& output, const std::string& text) {
  if (const auto folder = std::filesystem::path(output.path).parent_path(); !folder.empty()) {
    std::error_code told_by_open;
    std::filesystem::create_directories(folder, told_by_open);
  }
  const int file = output.path.empty() ? 2 : open(output.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return false;
  bool well = text.empty() || write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file != 2) well = close(file) == 0 && well;
  return well;
}

const Output* the_output = nullptr;

void write_log_at_exit() {
  if (!the_output || the_output->process != getpid()) return;
  const std::string text = log_report();
  const std::string report =
      str("ledger of process ", static_cast<int>(getpid()), ": ", text.empty() ? "nothing was copied or waited for\n" : "\n" + text);
  if (write_out(*the_output, report) || the_output->path.empty()) return;
  const int error = errno;
  (void)write_out({getpid(), {}}, str("[ledger] cannot write ", the_output->path, ": ", std::strerror(error), '\n'));
}

}  // namespace

void detail::begin_from_environment() {
  static const bool begun_once = [] {
    const auto value = environment(kVariable);
    if (!value || *value == "allow") return true;
    if (*value == "forbid") {
      environments_mode.store(WaitScope::Forbid);
    } else if (*value == "log" || (value->rfind("log:", 0) == 0 && value->size() > 4)) {
      auto output = std::make_unique<Output>(Output{getpid(), value->size() > 4 ? value->substr(4) : std::string()});
      if (!write_out(*output, {})) fail("[ledger] ", kVariable, '=', *value, ": cannot write the file: ", std::strerror(errno));
      the_output = output.release();
      std::atexit(write_log_at_exit);
      environments_mode.store(WaitScope::Log);
    } else {
      fail("[ledger] ", kVariable, '=', *value, " is none of allow, log, log:FILE and forbid");
    }
    Book::the().watch();
    return true;
  }();
  (void)begun_once;
}

}  // namespace tandem::ledger
