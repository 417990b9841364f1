#include "tools/recipes/settings.h"

#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "base/untrusted_json.h"

namespace tandem::tools {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Calls `f(name, setting)` for each of the settings that decide what a run computes, which a resumed run takes over.
template <class F>
void for_each_setting(TrainSettings& settings, F&& f) {
  f("net", settings.net);
  f("data", settings.data);
  f("synthetic", settings.synthetic);
  f("samples", settings.samples);
  f("epochs", settings.epochs);
  f("lr", settings.lr);
  f("batch", settings.batch);
  f("optimizer", settings.optimizer);
  f("schedule", settings.schedule);
  f("clip", settings.clip);
  f("accumulate", settings.accumulate);
  f("precision", settings.precision);
  f("limit-batches", settings.limit_batches);
  f("patience", settings.patience);
  f("seed", settings.seed);
}

struct ToJson {
  ordered_json& out;
  template <class T>
  void operator()(const char* name, const T& setting) const {
    out[name] = setting;
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& setting) const {
    if (setting) out[name] = *setting;
  }
};

struct FromJson {
  const json& from;
  const std::function<bool(const char*)>& is_kept;
  template <class T>
  void operator()(const char* name, T& setting) const {
    if (from.contains(name) && !is_kept(name)) setting = value<T>(from.at(name));
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& setting) const {
    if (from.contains(name) && !is_kept(name)) setting = value<T>(from.at(name));
  }
  template <class T>
  static T value(const json& value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return detail::whole_number<T>(value);
    else return value.get<T>();
  }
};

}  // namespace

ordered_json settings_json(TrainSettings settings) {
  ordered_json all = ordered_json::object();
  for_each_setting(settings, ToJson{all});
  return all;
}

std::string settings_note(const TrainSettings& settings) {
  ordered_json note = {{"name", settings.recipe}};
  note.update(settings_json(settings));
  return detail::json_text(note);
}

void read_settings(TrainSettings& settings, const io::Metadata& metadata, const std::string& path,
                   const std::function<bool(const char*)>& keep) {
  const auto note = metadata.find(kSettingsNote);
  if (note == metadata.end()) fail(path, ": `tandem train` did not write this file: it does not say which network it is of");
  const auto damaged = [&] { fail(path, ": the settings in this file are damaged"); };
  TrainSettings read = settings;
  try {
    const auto before = detail::parse_json<json>(note->second, 1);
    read.recipe = before.at("name").get<std::string>();
    for_each_setting(read, FromJson{before, keep});
  } catch (const json::exception&) {
    damaged();
  } catch (const Error&) {
    damaged();
  }
  if (!settings.recipe.empty() && read.recipe != settings.recipe)
    fail(path, ": this is a run of '", read.recipe, "', not of '", settings.recipe, "': choose another --out");
  settings = std::move(read);
}

}  // namespace tandem::tools
