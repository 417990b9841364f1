// error: static assertion failed: fields names tensors and modules that the module holds by value
#include "tandem.h"

struct Scaled : tandem::nn::Module {
  double scale = 2;
  void fields(tandem::nn::Fields& f) override { f("scale", scale); }
};
