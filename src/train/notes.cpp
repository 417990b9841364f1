#include "train/notes.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "ops/random.h"

namespace tandem::train::detail {
namespace {

using nlohmann::json;

constexpr const char* kKey = "trainer";

void read_generator(const json& generators, Device device) {
  const auto found = generators.find(device.str());
  if (found == generators.end()) return;
  set_rng_state({.seed = found->at(0).get<uint64_t>(), .offset = found->at(1).get<uint64_t>()}, device);
}

}  // namespace

std::map<std::string, std::string> to_notes(const RunState& state, const std::vector<Device>& devices) {
  json curves = json::object();
  for (const auto& [name, points] : state.board.series()) {
    json& curve = curves[name] = json::array();
    for (const Point& point : points) curve.push_back({point.x, point.y});
  }
  json generators = json::object();
  const auto add = [&](Device device) {
    const GeneratorState generator = get_rng_state(device);
    generators[device.str()] = {generator.seed, generator.offset};
  };
  add(cpu());
  for (const Device device : devices)
    if (device.is_cuda()) add(device);
  return {{kKey, json{{"epoch", state.epoch}, {"curves", curves}, {"generators", generators}}.dump()}};
}

RunState from_notes(const std::map<std::string, std::string>& notes, const std::vector<Device>& devices, const std::string& path) {
  const auto note = notes.find(kKey);
  if (note == notes.end()) fail("[Trainer.fit] ", path, ": cannot go on from this file: no Trainer wrote it");
  try {
    const json state = json::parse(note->second);
    RunState run;
    run.epoch = state.at("epoch").get<int>();
    ProgressBoard::Series series;
    for (const auto& [name, points] : state.at("curves").items()) {
      auto& curve = series[name];
      // A number that is no number (the loss of a run that went astray) is written as null.
      const auto number = [](const json& value) {
        return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
      };
      for (const json& point : points) curve.push_back({number(point.at(0)), number(point.at(1))});
    }
    run.board.set_series(std::move(series));
    read_generator(state.at("generators"), cpu());
    for (const Device device : devices)
      if (device.is_cuda()) read_generator(state.at("generators"), device);
    return run;
  } catch (const json::exception&) {
    fail("[Trainer.fit] ", path, ": cannot go on from this file: the Trainer's notes in it are damaged");
  }
}

}  // namespace tandem::train::detail
