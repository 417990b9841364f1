// error: static assertion failed: a nn::Module is called with one tensor: derive from nn::Callable<YourModule>
#include "tandem.h"

struct Sum : tandem::nn::Module {
  tandem::Tensor forward(const tandem::Tensor& a) override { return a; }
  tandem::Tensor forward(const tandem::Tensor& a, const tandem::Tensor& b) { return a + b; }
};

tandem::Tensor call(Sum& sum, const tandem::Tensor& x) { return sum(x, x); }
