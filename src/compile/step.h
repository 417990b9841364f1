// One thing that a plan does.
#pragma once

#include <memory>
#include <string>

#include "compile/call.h"

namespace tandem::compiling {

class Step {
 public:
  Step(const char* name, Site where) : op(name), site(where) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual void run(const Queue& queue) = 0;

  const char* const op;
  const Site site;
  std::string also;  // what it does besides, for people
};

/// A noted call as it is.
class CallStep final : public Step {
 public:
  explicit CallStep(const Call& call) : Step(call.op(), call.site()), call_(call) {}
  void run(const Queue& queue) override { call_.run(queue); }

 private:
  const Call& call_;
};

/// A step on the CPU, told to whoever listens.
void run_step(Step& step);

/// Steps for people, one a line.
[[nodiscard]] std::string text_of(const std::unique_ptr<Step>* first, const std::unique_ptr<Step>* last);

}  // namespace tandem::compiling
