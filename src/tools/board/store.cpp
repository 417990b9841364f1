#include "tools/board/store.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/error.h"
#include "tools/command.h"

namespace tandem::tools::board {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int kMostDepth = 8;
constexpr size_t kMostFolders = 50000, kMostRuns = 5000;
constexpr size_t kAtOnce = size_t{1} << 20;  // bytes of a run, so that many runs fill evenly
constexpr auto kLookAgain = std::chrono::milliseconds(500);
constexpr auto kPause = std::chrono::microseconds(100);

template <class Map>
ordered_json names(const Map& map) {
  ordered_json all = ordered_json::array();
  for (const auto& [name, value] : map) all.push_back(name);
  return all;
}

ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

}  // namespace

Store::Store(const std::string& folder) {
  std::error_code error;
  folder_ = fs::canonical(folder, error);
  if (error) fail<UsageError>("board: ", folder, ": ", error.message());
  if (!fs::is_directory(folder_, error)) fail<UsageError>("board: ", folder, " is no folder");
}

Store::~Store() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Store::watch() {
  thread_ = std::thread([this] {
    for (;;) {
      look_for_runs();
      while (read_some()) {
      }
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kLookAgain, [this] { return ending_; })) return;
    }
  });
}

void Store::read_all() {
  look_for_runs();
  while (read_some()) {
  }
}

/// Folders are not followed through links: those could lead out, or round in a circle.
void Store::look_for_runs() {
  std::map<std::string, fs::path> found;
  bool left_out = false;
  const auto add = [&](const fs::path& folder) {
    if (found.size() == kMostRuns) left_out = true;
    else found[fs::relative(folder, folder_).generic_string()] = folder;
  };
  std::error_code error;
  if (is_run(folder_)) add(folder_);
  size_t seen = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder_, options, error), end; !error && entry != end; entry.increment(error)) {
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
    }
    std::error_code of_entry;
    if (entry->is_symlink(of_entry) || !entry->is_directory(of_entry)) continue;
    if (++seen == kMostFolders) {
      left_out = true;
      break;
    }
    if (entry.depth() + 1 >= kMostDepth) entry.disable_recursion_pending();
    // What `tandem train` keeps there belongs to the run above.
    if (entry->path().filename() == kEventsFolder && is_run(entry->path().parent_path())) continue;
    if (is_run(entry->path())) add(entry->path());
  }
  const std::lock_guard lock(mutex_);
  bool changed = std::exchange(left_out_, left_out) != left_out;
  for (auto it = numbers_.begin(); it != numbers_.end();)
    if (!found.contains(it->first)) {
      runs_.erase(it->second);
      it = numbers_.erase(it);
      changed = true;
    } else {
      ++it;
    }
  for (const auto& [name, folder] : found)
    if (!numbers_.contains(name)) {
      numbers_[name] = next_number_;
      runs_[next_number_++] = std::make_unique<Run>(name, folder);
      changed = true;
    }
  if (changed) ++version_;
}

/// A piece of every run. True: there is more.
bool Store::read_some() {
  std::vector<int> numbers;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, run] : runs_) numbers.push_back(number);
  }
  bool behind = false;
  for (const int number : numbers) {
    bool news = false;
    {
      const std::lock_guard lock(mutex_);  // let go between runs, so that the page is answered
      if (ending_) return false;
      const auto run = runs_.find(number);
      if (run == runs_.end()) continue;
      news = run->second->read(kAtOnce);
      if (news) ++version_;
      behind = behind || run->second->behind();
    }
    // A mutex is not fair: without a pause this thread would have it again before those who wait for it.
    if (news) std::this_thread::sleep_for(kPause);
  }
  const std::lock_guard lock(mutex_);
  if (std::exchange(behind_, behind) != behind) ++version_;
  return behind;
}

const Run* Store::run_of(int number) const {
  const auto run = runs_.find(number);
  return run == runs_.end() ? nullptr : run->second.get();
}

ordered_json Store::state(uint64_t version) const {
  const std::lock_guard lock(mutex_);
  ordered_json document = {{"version", version_}};
  if (version == version_) return document;
  document["folder"] = folder_.string();
  document["reading"] = behind_;
  document["left_out"] = left_out_;
  ordered_json& runs = document["runs"] = ordered_json::array();
  for (const auto& [id, run] : runs_) {
    ordered_json last = ordered_json::object();
    for (const auto& [tag, curve] : run->curves())
      if (!curve.points().empty()) last[tag] = {curve.points().back().step, number(curve.points().back().value), curve.points().size()};
    std::error_code error;
    runs.push_back({{"id", id},
                    {"name", run->name()},
                    {"changed", run->changed()},
                    {"trouble", run->trouble()},
                    {"scalars", std::move(last)},
                    {"images", names(run->pictures())},
                    {"histograms", names(run->histograms())},
                    {"texts", run->texts().size()},
                    {"report", fs::exists(run->folder() / "report.html", error)},
                    {"ledger", fs::exists(run->folder() / "ledger.txt", error)},
                    {"trace", fs::exists(run->folder() / "trace.json", error)},
                    {"facts", run->facts()}});
  }
  return document;
}

ordered_json Store::curves(const std::string& tag, const std::vector<int>& runs, size_t points, int64_t from, int64_t to) const {
  const std::lock_guard lock(mutex_);
  ordered_json all = ordered_json::array();
  for (const int id : runs) {
    const Run* const run = run_of(id);
    const auto found = run ? run->curves().find(tag) : decltype(run->curves().find(tag)){};
    if (!run || found == run->curves().end()) continue;
    ordered_json steps = ordered_json::array(), times = ordered_json::array(), values = ordered_json::array();
    for (const CurvePoint& point : found->second.thinned(points, from, to)) {
      steps.push_back(point.step);
      times.push_back(number(point.time));
      values.push_back(number(point.value));
    }
    all.push_back({{"run", id},
                   {"points", found->second.points().size()},
                   {"steps", std::move(steps)},
                   {"times", std::move(times)},
                   {"values", std::move(values)}});
  }
  return all;
}

ordered_json Store::steps_of_pictures(const std::string& tag, const std::vector<int>& runs) const {
  const std::lock_guard lock(mutex_);
  ordered_json all = ordered_json::array();
  for (const int id : runs) {
    const Run* const run = run_of(id);
    if (!run || !run->pictures().contains(tag)) continue;
    ordered_json steps = ordered_json::array();
    for (const Stored& stored : run->pictures().at(tag)) steps.push_back(stored.step);
    all.push_back({{"run", id}, {"steps", std::move(steps)}});
  }
  return all;
}

ordered_json Store::histograms(const std::string& tag, int id, size_t most) const {
  const std::lock_guard lock(mutex_);
  const Run* const run = run_of(id);
  if (!run || !run->histograms().contains(tag)) return nullptr;
  const std::vector<Stored>& all = run->histograms().at(tag);
  ordered_json document = ordered_json::array();
  const size_t count = std::min(all.size(), std::max<size_t>(most, 1));
  for (size_t i = 0; i < count; ++i) {
    const Stored& stored = all[count == 1 ? all.size() - 1 : i * (all.size() - 1) / (count - 1)];
    ordered_json buckets = ordered_json::array();
    for (const Bucket& bucket : run->buckets_of(stored)) buckets.push_back({number(bucket.from), number(bucket.to), number(bucket.count)});
    document.push_back({{"step", stored.step}, {"buckets", std::move(buckets)}});
  }
  return document;
}

ordered_json Store::texts(int id) const {
  const std::lock_guard lock(mutex_);
  const Run* const run = run_of(id);
  return run ? ordered_json(run->texts()) : ordered_json(nullptr);
}

std::string Store::picture(const std::string& tag, int id, int64_t step) const {
  const std::lock_guard lock(mutex_);
  const Run* const run = run_of(id);
  if (!run || !run->pictures().contains(tag)) return "";
  for (const Stored& stored : run->pictures().at(tag))
    if (stored.step == step) return run->bytes_of(stored);
  return "";
}

fs::path Store::file_of(int id, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const Run* const run = run_of(id);
  std::error_code error;
  if (!run || !fs::is_regular_file(fs::symlink_status(run->folder() / name, error))) return {};
  return run->folder() / name;
}

}  // namespace tandem::tools::board
