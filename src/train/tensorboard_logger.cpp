#include "train/tensorboard_logger.h"

#include "train/trainer.h"

namespace tandem::train {

void TensorBoardLogger::on_epoch_end(Trainer& trainer, Module&, const Figures& figures) {
  for (const auto& [name, value] : figures) writer_.add_scalar(name, value, trainer.step());
  writer_.add_scalar("lr", trainer.optimizer().param_groups()[0].lr, trainer.step());
  writer_.flush();
}

}  // namespace tandem::train
