#include "libtorch/types_warning.h"

#include <cstdio>
#include <mutex>
#include <utility>

#include "base/warning.h"

namespace torch {

namespace {
thread_local WarningHandler* of_this_thread = nullptr;

/// From now on, this library's warnings go to the handler of the thread that gave cause for them; to whom they went, where it has none.
void take_warnings() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto before = tandem::set_warning_handler({});
    tandem::set_warning_handler([before = std::move(before)](const std::string& text) {
      if (of_this_thread != nullptr) of_this_thread->process({}, text, false);
      else if (before) before(text);
      else WarningHandler().process({}, text, false);
    });
  });
}
}  // namespace

std::ostream& operator<<(std::ostream& out, const SourceLocation& location) {
  return out << location.function << " at " << location.file << ':' << location.line;
}

void WarningHandler::process(const SourceLocation& location, const std::string& text, bool /*verbatim*/) {
  const std::string where = location.line == 0 ? "" : std::string(location.file) + ":" + std::to_string(location.line) + ": ";
  std::fprintf(stderr, "%standem: warning: %s\n", where.c_str(), text.c_str());
}

void Warning::warn(const SourceLocation& location, const std::string& text, bool verbatim) {
  if (of_this_thread != nullptr) of_this_thread->process(location, text, verbatim);
  else tandem::warn(text);
}

void Warning::set_warning_handler(WarningHandler* handler) noexcept {
  if (handler != nullptr) take_warnings();
  of_this_thread = handler;
}

WarningHandler* Warning::get_warning_handler() noexcept {
  static WarningHandler standard;
  return of_this_thread == nullptr ? &standard : of_this_thread;
}

}  // namespace torch
