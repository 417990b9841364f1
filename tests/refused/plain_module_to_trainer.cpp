// error: static assertion failed: Trainer.fit takes a train::Module, which knows its loss: derive from train::Module
#include "tandem.h"

void fit(tandem::nn::Sequential& net, const tandem::train::DataModule& data) { tandem::train::Trainer().fit(net, data); }
