// What `tandem train` writes into a checkpoint of its settings, and reads back.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "io/safetensors.h"
#include "tools/recipes/recipe.h"

namespace tandem::tools {

/// Under which the settings stand in a checkpoint's metadata.
inline constexpr const char* kSettingsNote = "recipe";

/// By the names of their options.
[[nodiscard]] nlohmann::ordered_json settings_json(TrainSettings settings);
[[nodiscard]] std::string settings_note(const TrainSettings& settings);
/// Sets what the run that wrote `metadata` had, except those settings that `keep` names. Error where it is another recipe's run, or none of
/// `tandem train`; `path` is the file that is named. An empty `settings.recipe` takes any.
void read_settings(TrainSettings& settings, const io::Metadata& metadata, const std::string& path,
                   const std::function<bool(const char*)>& keep);

}  // namespace tandem::tools
