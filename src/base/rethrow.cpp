#include "base/rethrow.h"

#include "base/error.h"
#include "base/error_place.h"
#include "base/wait_scope.h"

namespace tandem {
namespace {

/// A copy: other threads may hold the one at hand.
template <class E>
[[noreturn]] void throw_named(E error, const std::string& before) {
  detail::ErrorPlace::prepend(error, before);
  throw error;
}

}  // namespace

void rethrow_named(const std::string& before) {
  try {
    throw;
  } catch (const OutOfMemoryError& e) {
    throw_named(e, before);
  } catch (const IndexError& e) {
    throw_named(e, before);
  } catch (const ledger::ForbiddenError& e) {
    throw_named(e, before);
  } catch (const NotImplementedError& e) {
    throw_named(e, before);
  } catch (const Error& e) {
    throw_named(Error(e), before);
  } catch (const std::exception& e) {
    throw Error(before + e.what());
  }
}

}  // namespace tandem
