// error: static assertion failed: nn::Sequential takes modules from tensor to tensor: nn::ReLU\(\) and not the function
#include "tandem.h"

tandem::nn::Sequential net(tandem::nn::Linear(2, 3), [](const tandem::Tensor& x) { return tandem::relu(x); });
