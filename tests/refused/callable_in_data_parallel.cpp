// error: static assertion failed: DataParallel takes modules from tensor to tensor
#include "tandem.h"

struct Sum : tandem::nn::Callable<Sum> {
  tandem::Tensor forward(const tandem::Tensor& a, const tandem::Tensor& b) { return a + b; }
};
void wrap(Sum& sum) { tandem::parallel::DataParallel both(sum); }
