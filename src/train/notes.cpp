#include "train/notes.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem::train::detail {
namespace {

using nlohmann::json;

constexpr const char* kKey = "trainer";

/// A number that is no number (the loss of a run that went astray) is written as null.
double number(const json& value) { return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>(); }

}  // namespace

RunState::Generators generators_now(const std::vector<Device>& devices) {
  RunState::Generators generators = {{cpu().str(), get_rng_state(cpu())}};
  for (const Device device : devices) generators[device.str()] = get_rng_state(device);
  return generators;
}

void set_generators(const RunState::Generators& generators, const std::vector<Device>& devices) {
  const auto set = [&](Device device) {
    const auto found = generators.find(device.str());
    if (found != generators.end()) set_rng_state(found->second, device);
  };
  set(cpu());
  for (const Device device : devices) set(device);
}

std::map<std::string, std::string> to_notes(const RunState& state) {
  json curves = json::object(), generators = json::object(), losses = json::array();
  for (const auto& [name, points] : state.board.series()) {
    json& curve = curves[name] = json::array();
    for (const Point& point : points) curve.push_back({point.x, point.y});
  }
  for (const auto& [device, generator] : state.generators) generators[device] = {generator.seed, generator.offset};
  for (const LossMean& half : state.losses) losses.push_back({half.sum, half.batches});
  return {{kKey, json{{"epoch", state.epoch},
                      {"batch", state.batch},
                      {"batches", state.batches},
                      {"step", state.step},
                      {"losses", losses},
                      {"callbacks", state.callbacks},
                      {"generators", generators},
                      {"curves", curves}}
                     .dump()}};
}

RunState from_notes(const std::map<std::string, std::string>& notes, const std::string& path) {
  const auto note = notes.find(kKey);
  if (note == notes.end()) fail("[Trainer.fit] ", path, ": cannot go on from this file: no Trainer wrote it");
  try {
    const json state = json::parse(note->second);
    RunState run;
    run.epoch = state.at("epoch").get<int>();
    run.batch = state.at("batch").get<int64_t>();
    run.batches = state.at("batches").get<int64_t>();
    run.step = state.at("step").get<int64_t>();
    for (size_t i = 0; i < run.losses.size(); ++i) {
      const json& half = state.at("losses").at(i);
      run.losses[i] = {number(half.at(0)), half.at(1).get<int64_t>()};
    }
    run.callbacks = state.at("callbacks").get<RunState::Callbacks>();
    for (const auto& [device, generator] : state.at("generators").items())
      run.generators[device] = {.seed = generator.at(0).get<uint64_t>(), .offset = generator.at(1).get<uint64_t>()};
    ProgressBoard::Series series;
    for (const auto& [name, points] : state.at("curves").items()) {
      auto& curve = series[name];
      for (const json& point : points) curve.push_back({number(point.at(0)), number(point.at(1))});
    }
    run.board.set_series(std::move(series));
    return run;
  } catch (const json::exception&) {
    fail("[Trainer.fit] ", path, ": cannot go on from this file: the Trainer's notes in it are damaged");
  }
}

}  // namespace tandem::train::detail
