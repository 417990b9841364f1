#include "train/notes.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/untrusted_json.h"

namespace tandem::train::detail {
namespace {

using nlohmann::json;
using tandem::detail::json_text;
using tandem::detail::parse_json;
using tandem::detail::whole_number;

constexpr const char* kKey = "trainer";
constexpr const char* kSecondsKey = "trainer_seconds";  // by itself: all else is the same for the same run

/// A number that is no number (the loss of a run that went astray) is written as null.
double number(const json& value) { return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>(); }

json to_json(const ProgressBoard& board) {
  json curves = json::object();
  for (const auto& [name, points] : board.series()) {
    json& curve = curves[name] = json::array();
    for (const Point& point : points) curve.push_back({point.x, point.y});
  }
  return curves;
}

ProgressBoard board_of(const json& curves) {
  ProgressBoard::Series series;
  for (const auto& [name, points] : curves.items()) {
    auto& curve = series[name];
    for (const json& point : points) curve.push_back({number(point.at(0)), number(point.at(1))});
  }
  ProgressBoard board;
  board.set_series(std::move(series));
  return board;
}

[[noreturn]] void damaged(const std::string& path) {
  fail("[Trainer.fit] ", path, ": cannot go on from this file: the Trainer's notes in it are damaged");
}

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
  json generators = json::object(), losses = json::array();
  for (const auto& [device, generator] : state.generators) generators[device] = {generator.seed, generator.offset};
  for (const LossMean& half : state.losses) losses.push_back({half.sum, half.batches});
  const json all = {{"epoch", state.epoch},
                    {"batch", state.batch},
                    {"batches", state.batches},
                    {"step", state.step},
                    {"losses", losses},
                    {"callbacks", state.callbacks},
                    {"generators", generators},
                    {"curves", to_json(state.board)},
                    {"figures", to_json(state.figures)}};
  return {{kKey, json_text(all)}, {kSecondsKey, json(state.seconds).dump()}};
}

RunState from_notes(const std::map<std::string, std::string>& notes, const std::string& path) {
  const auto note = notes.find(kKey);
  if (note == notes.end()) fail("[Trainer.fit] ", path, ": cannot go on from this file: no Trainer wrote it");
  try {
    constexpr int kDeepest = 4;  // a curve's points
    const auto state = parse_json<json>(note->second, kDeepest);
    RunState run;
    run.epoch = whole_number<int>(state.at("epoch"));
    run.batch = whole_number<int64_t>(state.at("batch"));
    run.batches = whole_number<int64_t>(state.at("batches"));
    run.step = whole_number<int64_t>(state.at("step"));
    for (size_t i = 0; i < run.losses.size(); ++i) {
      const json& half = state.at("losses").at(i);
      run.losses[i] = {number(half.at(0)), whole_number<int64_t>(half.at(1))};
    }
    if (run.epoch < 0 || run.batch < 0 || run.batch > run.batches || run.step < 0) fail("these are no places in a run");
    run.callbacks = state.at("callbacks").get<RunState::Callbacks>();
    for (const auto& [device, generator] : state.at("generators").items())
      run.generators[device] = {.seed = whole_number<uint64_t>(generator.at(0)), .offset = whole_number<uint64_t>(generator.at(1))};
    run.board = board_of(state.at("curves"));
    if (state.contains("figures")) run.figures = board_of(state.at("figures"));
    if (const auto seconds = notes.find(kSecondsKey); seconds != notes.end()) {
      run.seconds = parse_json<json>(seconds->second, 1).get<double>();
      if (!(run.seconds >= 0)) fail("this is no time");
    }
    return run;
  } catch (const json::exception&) {
    damaged(path);
  } catch (const Error&) {
    damaged(path);
  }
}

}  // namespace tandem::train::detail
