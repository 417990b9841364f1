#include "base/rethrow.h"

#include "base/error.h"
#include "base/wait_scope.h"

namespace tandem {

void rethrow_named(const std::string& before) {
  try {
    throw;
  } catch (const OutOfMemoryError& e) {
    throw OutOfMemoryError(before + e.what());
  } catch (const IndexError& e) {
    throw IndexError(before + e.what());
  } catch (const ledger::ForbiddenError& e) {
    throw ledger::ForbiddenError(before + e.what());
  } catch (const NotImplementedError& e) {
    throw NotImplementedError(before + e.what());
  } catch (const std::exception& e) {
    throw Error(before + e.what());
  }
}

}  // namespace tandem
