// error: static assertion failed: arguments that can be sent to another process
#include "tandem.h"

struct Named {
  std::string name;
  const Named* parent;
};
void work(Named) {}

void start(const Named& named) { tandem::multiprocessing::Process process(work, named); }
