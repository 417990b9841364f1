#include "base/warning.h"

#include <iostream>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/fork.h"

namespace tandem {
namespace {

struct Warnings {
  detail::ForkSafeMutex said_mutex, handler_mutex;
  std::unordered_set<std::string> said;
  WarningHandler handler;
};

// Never freed: modules may be called while objects with static storage are destroyed.
Warnings& warnings() {
  static auto* all = new Warnings;
  return *all;
}

bool is_new(const std::string& text) {
  // Texts may be about files that never end to come: from here on nobody is told, and no memory is taken.
  constexpr size_t kMostTexts = 10'000;
  const std::lock_guard lock(warnings().said_mutex);
  auto& said = warnings().said;
  return said.size() < kMostTexts && said.insert(text).second;
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  const std::lock_guard lock(warnings().handler_mutex);
  return std::exchange(warnings().handler, std::move(handler));
}

void warn(const std::string& text) {
  const std::lock_guard lock(warnings().handler_mutex);
  if (warnings().handler) warnings().handler(text);
  else std::cerr << "tandem: warning: " + text + "\n";
}

void detail::warn_once(const std::string& text) {
  if (is_new(text)) warn(text);
}

}  // namespace tandem
