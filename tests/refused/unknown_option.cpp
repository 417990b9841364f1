// error: .*AdamOptions.* has no non-static data member named .learning_rate
#include "tandem.h"

tandem::optim::AdamOptions options{.learning_rate = 1e-3};
