#include "compile/step.h"

#include "base/error.h"
#include "ops/launch.h"
#include "runtime/launch.h"
#include "runtime/observer.h"

namespace tandem::compiling {

void run_step(Step& step) {
  const runtime::Telling told([&] { return ops::launching::kernel_fact(Device(), step.op, step.site); });
  step.run(runtime::Launch(Device(), step.op, step.site));
}

std::string text_of(const std::unique_ptr<Step>* first, const std::unique_ptr<Step>* last) {
  std::string text;
  for (; first != last; ++first) text += str((*first)->op, (*first)->also, '\n');
  return text;
}

}  // namespace tandem::compiling
