// error: static assertion failed: nn::Sequential takes modules from tensor to tensor: call a nn::Callable in a forward
#include "tandem.h"

struct Sum : tandem::nn::Callable<Sum> {
  tandem::Tensor forward(const tandem::Tensor& a, const tandem::Tensor& b) { return a + b; }
};
tandem::nn::Sequential net(tandem::nn::Linear(2, 3), Sum());
