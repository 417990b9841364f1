#include "libtorch/data_loader.h"

namespace torch::data {

WorkerException::WorkerException(std::exception_ptr original)
    : original_exception(std::move(original)), message("Caught exception in DataLoader worker thread.") {
  try {
    std::rethrow_exception(original_exception);
  } catch (const std::exception& error) {
    message += std::string(" Original message: ") + error.what();
  } catch (...) {
  }
}

const char* WorkerException::what() const noexcept { return message.c_str(); }

FullDataLoaderOptions::FullDataLoaderOptions(const DataLoaderOptions& options)
    : batch_size(options.batch_size()),
      workers(options.workers()),
      max_jobs(options.max_jobs().value_or(2 * workers)),
      timeout(options.timeout()),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()) {}

}  // namespace torch::data
