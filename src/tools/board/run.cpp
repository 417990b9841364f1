// The numbers of the fields are those of TensorBoard's event.proto, summary.proto, tensor.proto and of the hparams plugin's
// plugin_data.proto; train/summary_writer.cpp writes them.
#include "tools/board/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "io/protobuf_reader.h"

namespace tandem::tools::board {
namespace {

namespace fs = std::filesystem;
using io::MessageReader;
using nlohmann::ordered_json;

constexpr size_t kMostTags = 1000, kMostStored = 1000, kMostFacts = 200, kMostSummary = 1 << 20, kMostText = 1 << 14, kMostBuckets = 4096;
constexpr std::string_view kEventFile = "tfevents";

double seconds_of(fs::file_time_type time) {
  return std::chrono::duration<double>(std::chrono::file_clock::to_sys(time).time_since_epoch()).count();
}

/// A file, and no link: that could lead anywhere.
bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

std::vector<std::string> event_files(const fs::path& folder) {
  std::vector<std::string> all;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().find(kEventFile) != std::string::npos && is_file(entry->path()))
      all.push_back(entry->path().string());
  std::sort(all.begin(), all.end());  // their names begin with the time
  return all;
}

std::string text_of(std::string_view bytes) { return std::string(bytes.substr(0, kMostText)); }

/// Numbers that stand one behind the other.
template <class T>
std::vector<T> numbers(std::string_view bytes, size_t most) {
  std::vector<T> all(std::min(bytes.size() / sizeof(T), most));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

/// What a TensorProto holds: its first number, and its texts.
struct TensorValue {
  std::optional<double> number;
  std::vector<std::string_view> texts;
};
TensorValue tensor_value(std::string_view tensor) {
  TensorValue value;
  constexpr int64_t kFloat = 1, kDouble = 2;
  int64_t dtype = 0;
  std::string_view content;
  for (MessageReader r(tensor); r.next();) {
    if (r.field() == 1) dtype = r.integer();
    else if (r.field() == 4) content = r.bytes();
    else if (r.field() == 5 && r.bytes().size() >= 4) value.number = numbers<float>(r.bytes(), 1)[0];
    else if (r.field() == 5) value.number = r.real();
    else if (r.field() == 6 && r.bytes().size() >= 8) value.number = numbers<double>(r.bytes(), 1)[0];
    else if (r.field() == 8) value.texts.push_back(r.bytes());
  }
  if (!value.number && dtype == kFloat && content.size() == 4) value.number = numbers<float>(content, 1)[0];
  if (!value.number && dtype == kDouble && content.size() == 8) value.number = numbers<double>(content, 1)[0];
  return value;
}

}  // namespace

bool is_run(const fs::path& folder) {
  return is_file(folder / "summary.json") || !event_files(folder).empty() || !event_files(folder / kEventsFolder).empty();
}

void Run::start_again() {
  files_.clear();
  given_up_.clear();
  known_.clear();
  curves_.clear();
  pictures_.clear();
  histograms_.clear();
  texts_.clear();
  facts_ = ordered_json::object();
  summary_time_ = {};
  trouble_.clear();
}

bool Run::look_for_files() {
  bool found = false;
  for (const fs::path& folder : {folder_, folder_ / kEventsFolder})
    for (const std::string& path : event_files(folder)) {
      if (!known_.insert(path).second) continue;
      files_.emplace_back(path);
      given_up_.emplace_back();
      found = true;
    }
  return found;
}

bool Run::read_summary() {
  std::error_code error;
  const fs::path path = folder_ / "summary.json";
  const auto time = fs::last_write_time(path, error);
  if (error || time == summary_time_ || !is_file(path)) return false;
  summary_time_ = time;
  try {
    const auto document = ordered_json::parse(io::read_part("board", path.string(), 0, kMostSummary));
    if (!document.is_object()) return false;
    for (const auto& [name, value] : document.items())
      if ((value.is_primitive() && !value.is_null()) && (facts_.size() < kMostFacts || facts_.contains(name))) facts_[name] = value;
    changed_ = std::max(changed_, seconds_of(time));
    return true;
  } catch (const std::exception&) {  // half written, or no summary of ours
    return false;
  }
}

bool Run::read(size_t most) {
  bool news = look_for_files();
  news = read_summary() || news;
  behind_ = false;
  for (size_t i = 0; i < files_.size(); ++i) {
    std::error_code error;
    const uintmax_t size = fs::file_size(files_[i].path(), error);
    if (error || (given_up_[i] && size < *given_up_[i])) {  // it is gone, or another one
      start_again();
      return true;
    }
    if (given_up_[i]) continue;
    bool took = false;
    try {
      const bool more = files_[i].read(
          [&](std::string_view event, uint64_t offset) {
            took = true;
            try {
              take_event(event, i, offset);
            } catch (const Error&) {  // a record of another program
              if (trouble_.empty()) trouble_ = files_[i].path() + " has a record that is no event";
            }
          },
          most);
      behind_ = behind_ || more;
    } catch (const io::ShorterError&) {
      start_again();
      return true;
    } catch (const Error& e) {
      given_up_[i] = size;
      trouble_ = e.what();
      took = true;
    }
    news = news || took;
  }
  return news;
}

void Run::take_event(std::string_view event, size_t file, uint64_t offset) {
  double time = 0;
  int64_t step = 0;
  std::string_view summary;
  for (MessageReader r(event); r.next();) {
    if (r.field() == 1) time = r.real();
    else if (r.field() == 2) step = r.integer();
    else if (r.field() == 5) summary = r.bytes();
  }
  if (std::isfinite(time)) changed_ = std::max(changed_, std::min(time, seconds_of(fs::file_time_type::clock::now())));
  for (MessageReader r(summary); r.next();)
    if (r.field() == 1) take_value(r.bytes(), step, time, file, offset + static_cast<uint64_t>(r.bytes().data() - event.data()));
}

template <class Map>
bool Run::room_for(const Map& map, const std::string& tag) {
  if (map.size() < kMostTags || map.contains(tag)) return true;
  trouble_ = str("more than ", kMostTags, " tags: the others are left out");
  return false;
}

/// `offset`: where the value begins in the file.
void Run::take_value(std::string_view value, int64_t step, double time, size_t file, uint64_t offset) {
  std::string tag;
  std::string_view picture, histogram, tensor, plugin, content;
  std::optional<double> number;
  for (MessageReader r(value); r.next();) {
    switch (r.field()) {
      case 1: tag = text_of(r.bytes()); break;
      case 2: number = r.real(); break;
      case 4:
        for (MessageReader image(r.bytes()); image.next();)
          if (image.field() == 4) picture = image.bytes();
        break;
      case 5: histogram = r.bytes(); break;
      case 8: tensor = r.bytes(); break;
      case 9:
        for (MessageReader metadata(r.bytes()); metadata.next();)
          if (metadata.field() == 1)
            for (MessageReader data(metadata.bytes()); data.next();) {
              if (data.field() == 1) plugin = data.bytes();
              else if (data.field() == 2) content = data.bytes();
            }
        break;
      default: break;
    }
  }
  const auto keep = [&](std::map<std::string, std::vector<Stored>>& of, std::string_view bytes) {
    if (!room_for(of, tag)) return;
    std::vector<Stored>& all = of[tag];
    while (!all.empty() && all.back().step >= step) all.pop_back();
    if (all.size() == kMostStored) all.erase(all.begin());
    all.push_back({step, time, file, offset + static_cast<uint64_t>(bytes.data() - value.data()), static_cast<uint32_t>(bytes.size())});
  };
  if (plugin == "hparams") return take_hparams(content);
  if (!tensor.empty()) {
    const TensorValue held = tensor_value(tensor);
    if (plugin == "scalars" || plugin.empty()) number = held.number;
    else if (plugin == "images" && held.texts.size() > 2) picture = held.texts[2];  // behind width and height
    else if (plugin == "text" && !held.texts.empty() && room_for(texts_, tag)) texts_[tag] = text_of(held.texts[0]);
  }
  if (!picture.empty()) keep(pictures_, picture);
  else if (!histogram.empty()) keep(histograms_, histogram);
  else if (number && room_for(curves_, tag)) curves_[tag].add({step, time, static_cast<float>(*number)});
}

/// What a session began with: HParamsPluginData.session_start_info.hparams, a map from names to google.protobuf.Value.
void Run::take_hparams(std::string_view content) {
  for (MessageReader data(content); data.next();) {
    if (data.field() != 3) continue;
    for (MessageReader start(data.bytes()); start.next();) {
      if (start.field() != 1) continue;
      std::string name;
      ordered_json found;
      for (MessageReader entry(start.bytes()); entry.next();) {
        if (entry.field() == 1) name = text_of(entry.bytes());
        else if (entry.field() == 2)
          for (MessageReader value(entry.bytes()); value.next();) {
            if (value.field() == 2) found = value.real();
            else if (value.field() == 3) found = text_of(value.bytes());
            else if (value.field() == 4) found = value.integer() != 0;
          }
      }
      if (!name.empty() && facts_.size() < kMostFacts && !facts_.contains(name)) facts_[name] = found;  // the summary's are exact
    }
  }
}

std::string Run::bytes_of(const Stored& stored) const {
  std::string bytes = io::read_part("board", files_.at(stored.file).path(), stored.offset, stored.bytes);
  if (bytes.size() != stored.bytes) fail("[board] ", files_.at(stored.file).path(), " has become shorter");
  return bytes;
}

std::vector<Bucket> Run::buckets_of(const Stored& stored) const {
  const std::string message = bytes_of(stored);
  double least = 0, greatest = 0;
  std::vector<double> limits, counts;
  for (MessageReader r(message); r.next();) {
    if (r.field() == 1) least = r.real();
    else if (r.field() == 2) greatest = r.real();
    else if (r.field() == 6) limits = numbers<double>(r.bytes(), kMostBuckets);
    else if (r.field() == 7) counts = numbers<double>(r.bytes(), kMostBuckets);
  }
  std::vector<Bucket> buckets;
  for (size_t i = 0; i < std::min(limits.size(), counts.size()); ++i) {
    const double from = i ? limits[i - 1] : least, to = limits[i];
    const auto within = [&](double x) { return std::max(least, std::min(x, greatest)); };
    if (counts[i] > 0) buckets.push_back({within(from), within(to), counts[i]});
  }
  return buckets;
}

}  // namespace tandem::tools::board
