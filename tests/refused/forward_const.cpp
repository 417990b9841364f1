// error: overrid
#include "tandem.h"

struct Scaled : tandem::nn::Linear {
  using Linear::Linear;
  tandem::Tensor forward(const tandem::Tensor& x) const { return x * 2; }
};
