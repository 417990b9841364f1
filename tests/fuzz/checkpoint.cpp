// Checkpoints: what `load`, a resumed Trainer and `tandem predict` read of them.
#include "train/checkpoint.h"

#include <memory>

#include "fuzz.h"
#include "nn/linear.h"
#include "ops/creation.h"
#include "ops/reduce.h"
#include "optim/adam.h"
#include "optim/rmsprop.h"
#include "optim/schedule.h"
#include "optim/sgd.h"
#include "repair.h"
#include "tools/recipes/settings.h"
#include "train/callback.h"
#include "train/notes.h"

namespace {

using namespace tandem;

std::unique_ptr<optim::Optimizer> optimizer_for(const std::string& name, const std::vector<Tensor>& parameters) {
  if (name == "SGD") return optim::make<optim::SGD>(parameters, {.momentum = 0.5});
  if (name == "RMSprop") return optim::make<optim::RMSprop>(parameters, {.momentum = 0.5});
  return optim::make<optim::Adam>(parameters);
}

StateDict copy_of(const StateDict& state) {
  StateDict copy;
  for (const auto& [name, tensor] : state) copy[name] = tensor.clone();
  return copy;
}

bool same(const StateDict& a, const StateDict& b) {
  if (a.keys() != b.keys()) return false;
  for (const auto& [name, tensor] : a)
    if (!equal(tensor, b.at(name))) return false;
  return true;
}

/// What a Trainer and the program write of themselves.
void read_notes(const io::Metadata& notes, const std::string& path) {
  using fuzz::succeeds;
  succeeds([&] {
    const auto run = train::detail::from_notes(notes, path);
    train::EarlyStopping stopping;
    train::ModelCheckpoint best;
    for (const auto& saved : run.callbacks) {
      succeeds([&] { stopping.load_state(saved.second); });
      succeeds([&] { best.load_state(saved.second); });
    }
  });
  succeeds([&] {
    tools::TrainSettings settings;
    tools::read_settings(settings, notes, path, [](const char*) { return false; });
  });
}

}  // namespace

void fuzz::read(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  const auto checkpoint = train::detail::read_checkpoint(path, Site::here());
  read_notes(checkpoint.more.notes, path);

  nn::Linear model(2, 1);
  const auto optimizer = optimizer_for(checkpoint.optimizer_name, model.parameters());
  optim::StepLR steps(*optimizer, 3);
  optim::ReduceLROnPlateau plateau(*optimizer);
  const StateDict model_before = copy_of(model.state_dict()), optimizer_before = copy_of(optimizer->state_dict());
  if (!succeeds([&] { train::detail::take_over(checkpoint, model, optimizer.get(), Site::here()); })) {
    expect(same(model.state_dict(), model_before), "a checkpoint that was refused has changed the model");
    expect(same(optimizer->state_dict(), optimizer_before), "a checkpoint that was refused has changed the optimizer");
    train::detail::take_over(checkpoint, model, nullptr, Site::here());  // one of another library has no optimizer
    return;
  }
  succeeds([&] { steps.load_state_dict(checkpoint.more.schedules.under("0.")); });
  succeeds([&] { plateau.load_state_dict(checkpoint.more.schedules.under("1.")); });
  // What was taken over must be good for a step.
  for (const Tensor& parameter : model.parameters()) parameter.set_grad(ones_like(parameter.detach()));
  succeeds([&] {
    optimizer->step();
    steps.step();
    plateau.step(1);
  });
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_safetensors);
}
