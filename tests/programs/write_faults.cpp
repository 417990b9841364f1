// env: TANDEM_VIRTUAL_GPUS=1x256MiB
// Disks that fill or fail, signals, a limit on file sizes, a clock that jumps: every system call of every way to write a file is made to
// fail once, in its turn. Each time there is an error or the whole file, the old file is intact, nothing lies beside it, and the next save
// works. The calls are this program's own functions of the same names, which the library's calls find first.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <tandem/tandem.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>

#include "check.h"
#include "io/event_file.h"

namespace td = tandem;
namespace fs = std::filesystem;
namespace train = td::train;

// --- The system calls

enum class Fault {
  NoSpace,      // ENOSPC
  BadDisk,      // EIO
  Interrupted,  // EINTR
  Short,        // half of what was to be written is
  Full,         // the same, and from then on there is no space
  Stuck,        // the same, and what was written cannot be taken back either
};
constexpr const char* kNames[] = {"no space", "bad disk", "interrupted", "short", "full", "stuck"};

/// Which call fails, and how.
struct Plan {
  std::mutex mutex;
  bool on = false;
  int at = 0, seen = 0;
  Fault fault = Fault::NoSpace;
  bool full = false;
  std::string hit;  // the call that failed; empty: none yet
};
Plan plan;
std::atomic<bool> clock_jumps = false;

/// Whether this call is the one to fail.
bool hits(const char* call) {
  const std::lock_guard lock(plan.mutex);
  if (!plan.on || (plan.fault >= Fault::Short && std::strcmp(call, "write") != 0)) return false;
  if (++plan.seen != plan.at) return false;
  plan.hit = call;
  plan.full = plan.fault >= Fault::Full;
  return true;
}
int error_number() { return plan.fault == Fault::BadDisk ? EIO : plan.fault == Fault::Interrupted ? EINTR : ENOSPC; }
int refuse() {
  errno = error_number();
  return -1;
}
bool is_full() {
  const std::lock_guard lock(plan.mutex);
  return plan.on && plan.full;
}

template <class F>
F* real(F*, const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) static auto* const next = real(&::name, #name)

extern "C" {
ssize_t write(int descriptor, const void* data, size_t bytes) {
  REAL(write);
  if (is_full()) return refuse();
  const bool whole = plan.fault >= Fault::Short && bytes < 2;  // there is no half of it
  if (whole || !hits("write")) return next(descriptor, data, bytes);
  return plan.fault >= Fault::Short ? next(descriptor, data, (bytes + 1) / 2) : refuse();
}
int fsync(int descriptor) {
  REAL(fsync);
  return hits("fsync") ? refuse() : next(descriptor);
}
int ftruncate(int descriptor, off_t bytes) noexcept {
  REAL(ftruncate);
  return hits("ftruncate") || (is_full() && plan.fault == Fault::Stuck) ? refuse() : next(descriptor, bytes);
}
int rename(const char* from, const char* to) noexcept {
  REAL(rename);
  return hits("rename") ? refuse() : next(from, to);
}
int flock(int descriptor, int operation) noexcept {
  REAL(flock);
  return hits("flock") ? refuse() : next(descriptor, operation);
}
int fchown(int descriptor, uid_t owner, gid_t group) noexcept {
  REAL(fchown);
  return hits("fchown") ? refuse() : next(descriptor, owner, group);
}
int fchmod(int descriptor, mode_t mode) noexcept {
  REAL(fchmod);
  return hits("fchmod") ? refuse() : next(descriptor, mode);
}
int close(int descriptor) {
  REAL(close);
  const int result = next(descriptor);
  return hits("close") ? refuse() : result;
}
int open(const char* path, int flags, ...) {
  REAL(open);
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
    if (hits("open")) return refuse();
  }
  return next(path, flags, mode);
}
int clock_gettime(clockid_t clock, timespec* time) noexcept {
  REAL(clock_gettime);
  static std::atomic<uint64_t> random = 1;
  const int result = next(clock, time);
  if (clock_jumps && clock == CLOCK_REALTIME) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    time->tv_sec += static_cast<time_t>(random >> 31U) - (time_t{1} << 32);
  }
  return result;
}
time_t time(time_t* result) noexcept {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
}

// --- What is looked at

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int files_in(const std::string& folder) { return static_cast<int>(std::distance(fs::directory_iterator(folder), {})); }

/// The text of the error that `f` throws while the plan is on; empty where it throws none.
template <class F>
std::string under(Fault fault, int at, F&& f) {
  plan.at = at;
  plan.seen = 0;
  plan.fault = fault;
  plan.full = false;
  plan.hit.clear();
  plan.on = true;
  std::string error;
  try {
    f();
  } catch (const td::Error& thrown) {
    error = thrown.what();
  }
  const std::lock_guard lock(plan.mutex);
  plan.on = false;
  return error;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// One way to write a file: `save(path, version)` gives other bytes for another version.
struct Way {
  const char* name;
  std::function<void(const std::string& path, int version)> save;
};

void fail_each_call_once(const Way& way) {
  fs::remove_all(way.name);
  fs::create_directory(way.name);
  const std::string path = std::string(way.name) + "/file";
  way.save(path, 2);
  const std::string fresh = content(path);
  way.save(path, 1);
  const std::string old = content(path);
  CHECK(old != fresh);
  const int descriptors = files_in("/proc/self/fd");
  int faults = 0;
  for (const Fault fault : {Fault::NoSpace, Fault::BadDisk, Fault::Interrupted, Fault::Short, Fault::Full}) {
    for (int at = 1;; ++at) {
      way.save(path, 1);
      check(content(path) == old, "it can be saved again", __LINE__, way.name);
      const std::string error = under(fault, at, [&] { way.save(path, 2); });
      if (plan.hit.empty()) break;  // there is no such call any more
      ++faults;
      const std::string where = std::string(way.name) + ", " + plan.hit + ", " + kNames[static_cast<int>(fault)] + ": " + error;
      const std::string now = content(path);
      const bool in_place = has(error, "the file is written");  // only its folder was not flushed
      check(now == (error.empty() || in_place ? fresh : old), "the old file or the new one", __LINE__, where);
      check(files_in(way.name) == 1, "nothing beside it", __LINE__, where);
      check(error.empty() || (has(error, path) && has(error, std::strerror(error_number()))), "an error that says why", __LINE__, where);
      const bool harmless = plan.hit == "close" || plan.hit == "flock" || plan.hit == "fchown" || plan.hit == "fchmod" ||
                            fault == Fault::Short || (fault == Fault::Interrupted && plan.hit != "rename");
      check(error.empty() == harmless, "an error where there must be one, and no other", __LINE__, where);
    }
  }
  CHECK(faults >= 20);
  CHECK(files_in("/proc/self/fd") == descriptors);
  std::printf("%s: %d faults\n", way.name, faults);
}

td::Tensor filled(int version) { return td::full({3, 5, 7}, version, td::gpu(0)); }

std::vector<Way> ways() {
  using td::io::save_npy, td::io::save_npz, td::io::save_safetensors;
  static td::nn::Linear net(4, 3);
  static td::optim::Adam adam(net.parameters());
  return {
      {"safetensors",
       [](const std::string& path, int v) {
         save_safetensors(path, {{"a", filled(v)}, {"b", td::ones({9})}}, {{"note", "text"}});
       }},
      {"npy", [](const std::string& path, int v) { save_npy(path, filled(v)); }},
      {"npz",
       [](const std::string& path, int v) {
         save_npz(path, {{"a", filled(v)}, {"b", td::ones({9})}});
       }},
      {"checkpoint",
       [](const std::string& path, int v) {
         td::NoGradGuard no_grad;
         net.weight.fill_(v);
         td::save(path, net, adam);
       }},
      {"png", [](const std::string& path, int v) { td::data::write_png(filled(v).cpu().narrow(0, 0, 3).to(td::kUInt8), path); }},
      {"jpeg", [](const std::string& path, int v) { td::data::write_jpeg((filled(v).cpu() * 100).to(td::kUInt8), path); }},
      {"report",
       [](const std::string& path, int v) {
         train::Report report;
         report.title = std::to_string(v);
         train::write_report(path, report);
       }},
  };
}

// --- Event files

/// Whether a file is nothing but whole records.
bool is_whole(const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    if (bytes.size() - at < 16) return false;
    std::memcpy(&length, bytes.data() + at, 8);
    if (length > bytes.size() - at - 16) return false;
    const std::string record = td::io::event_frame(bytes.substr(at + 12, length));
    if (bytes.compare(at, record.size(), record) != 0) return false;
    at += record.size();
  }
  return true;
}

void fail_event_files() {
  for (const Fault fault : {Fault::NoSpace, Fault::BadDisk, Fault::Interrupted, Fault::Short, Fault::Full, Fault::Stuck}) {
    for (int at = 1;; ++at) {
      fs::remove_all("events");
      std::string path;
      int added = 0;
      const std::string error = under(fault, at, [&] {
        train::SummaryWriter writer("events");
        path = writer.path();
        for (int step = 0; step < 3; ++step, ++added) writer.add_scalar("loss", step, step);
        writer.flush();
      });
      if (plan.hit.empty()) break;
      const std::string where = plan.hit + ", " + kNames[static_cast<int>(fault)] + ": " + error;
      const bool harmless = plan.hit == "close" || fault == Fault::Short || fault == Fault::Interrupted;
      check(error.empty() == harmless, "an error where there must be one, and no other", __LINE__, where);
      check(error.empty() || has(error, std::strerror(error_number())), "an error that says why", __LINE__, where);
      if (fault != Fault::Stuck && !path.empty()) check(is_whole(content(path)), "whole records", __LINE__, where);
    }
  }
  // After a failure the same file goes on, also where the piece of a record could not be taken back at first.
  for (const Fault fault : {Fault::Full, Fault::Stuck}) {
    td::io::EventFile file("test", "events");
    file.add("first");
    CHECK(!under(fault, 1, [&] { file.add("torn"); }).empty());
    CHECK(is_whole(content(file.path())) == (fault == Fault::Full));
    file.add("second");
    CHECK(content(file.path()) == td::io::event_frame("first") + td::io::event_frame("second"));
  }
}

// --- A run

struct Line : train::Module {
  td::nn::Linear net{1, 1};
  void fields(td::nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
  td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override { return td::mse_loss(output, target); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override { return td::optim::make<td::optim::SGD>(parameters()); }
};

train::DataModule line_data() {
  const td::Tensor x = td::arange(8.).reshape({8, 1}) / 8;
  return train::DataModule(td::data::TensorDataset({x, 2 * x}), td::data::TensorDataset({x, 2 * x}), {.batch_size = 4});
}

void fail_a_run() {
  const auto run = [](bool resume, int epochs) {
    td::manual_seed(1);
    Line model;
    train::Trainer trainer(
        {.max_epochs = epochs, .checkpoint_dir = "run", .checkpoint_every = 1, .resume = resume, .quiet = true, .seed = 1});
    trainer.fit(model, line_data());
    return model.net.weight.detach().clone();
  };
  fs::remove_all("run");
  const td::Tensor expected = run(false, 3);
  int faults = 0;
  for (const Fault fault : {Fault::NoSpace, Fault::BadDisk, Fault::Full}) {
    for (int at = 1;; ++at) {
      fs::remove_all("run");
      const std::string error = under(fault, at, [&] { (void)run(false, 3); });
      if (plan.hit.empty()) break;
      ++faults;
      const std::string where = plan.hit + ", " + kNames[static_cast<int>(fault)] + ": " + error;
      check(error.empty() || has(error, "checkpoint.safetensors"), "an error that names the checkpoint", __LINE__, where);
      check(files_in("run") <= 1, "nothing beside it", __LINE__, where);
      // What is there is a step of that run.
      check(td::equal(run(true, 3), expected), "the run goes on from what is there", __LINE__, where);
    }
  }
  CHECK(faults >= 40);
  std::printf("run: %d faults\n", faults);
}

// --- Signals, limits, clocks

void save_under_signals() {
  struct sigaction action = {};
  static std::atomic<int> signals = 0;
  action.sa_handler = [](int) { ++signals; };  // without SA_RESTART: calls come back with EINTR
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 200}, {0, 200}}, never = {};
  const td::Tensor big = td::arange(1 << 20);
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 10; ++i) {
    CHECK((td::io::save_npy("signals.npy", big + i), true));
    CHECK(td::equal(td::io::load_npy("signals.npy"), big + i));
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  CHECK(signals > 0);
}

void save_past_the_limit() {
  td::io::save_npy("limit.npy", td::ones({10}));
  td::io::EventFile events("test", "events");
  events.add("first");
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_ERROR(td::io::save_npy("limit.npy", td::ones({1000})), td::Error, "limit.npy: cannot write the file: File too large");
  CHECK_ERROR(events.add(std::string(2000, 'x')), td::Error, "File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(td::io::load_npy("limit.npy").numel() == 10);
  events.add("second");
  CHECK(content(events.path()) == td::io::event_frame("first") + td::io::event_frame("second"));
}

void train_while_the_clock_jumps() {
  const auto run = [](const std::string& folder) {
    fs::remove_all(folder);
    std::ostringstream out;
    td::manual_seed(1);
    Line model;
    train::Trainer trainer({.max_epochs = 3,
                            .checkpoint_dir = folder,
                            .callbacks = {std::make_shared<train::TensorBoardLogger>(folder + "/events")},
                            .seed = 1,
                            .output = &out});
    trainer.fit(model, line_data());
    train::write_report(folder + "/report.html", train::make_report(trainer));
    return std::pair(model.net.weight.detach().clone(), out.str());
  };
  const auto expected = run("steady").first;
  clock_jumps = true;
  const auto first = std::chrono::system_clock::now(), second = std::chrono::system_clock::now();
  CHECK(std::chrono::abs(second - first) > std::chrono::hours(24));
  const auto [weight, text] = run("jumps");
  for (int i = 0; i < 20; ++i) CHECK((train::SummaryWriter("jumps/events"), true));
  clock_jumps = false;
  CHECK(td::equal(weight, expected));
  CHECK(has(text, "epoch 3/3") && !has(text, "-"));
  for (const auto& entry : fs::directory_iterator("jumps/events")) CHECK(is_whole(content(entry.path().string())));
}

int main() {
  for (const Way& way : ways()) fail_each_call_once(way);
  fail_event_files();
  fail_a_run();
  save_under_signals();
  save_past_the_limit();
  train_while_the_clock_jumps();
  return finish();
}
