// error: static assertion failed: DataParallel joins what the replicas give
#include "tandem.h"

struct Count : tandem::nn::Callable<Count> {
  int forward(const tandem::Tensor& a) { return static_cast<int>(a.dim()); }
};
int count(Count& module) { return tandem::parallel::DataParallel(module)(tandem::Tensor()); }
