#include "comm/progress.h"

#include <algorithm>
#include <utility>

#include "base/thread.h"

namespace tandem::comm {

/// A message that has been begun, with all that its transfer refers to.
struct Progress::Pending {
  explicit Pending(AsyncMessage asked)
      : message(std::move(asked)), context{message.call,     message.device,  nullptr,
                                           message.deadline, message.aborted, message.spoiled ? &*message.spoiled : nullptr} {}

  void begin(Backend& backend) {
    if (message.started) message.started();
    transfer = backend.begin_message(context);
  }
  /// Whether it is over, well or badly, which has been told then.
  bool advance(Backend& backend, bool look) {
    std::exception_ptr error;
    try {
      if (!transfer) begin(backend);
      if (!transfer->advance(look)) return false;
    } catch (...) {
      error = std::current_exception();
    }
    end(std::move(error));
    return true;
  }
  void end(std::exception_ptr error) {
    transfer.reset();
    message.tensor = Tensor();
    message.done(std::move(error));
  }

  AsyncMessage message;
  const Context context;
  std::unique_ptr<Transfer> transfer;
};

Progress::Progress(Backend& backend) : backend_(backend) {}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Progress::add(AsyncMessage message) {
  auto pending = std::make_unique<Pending>(std::move(message));
  if (pending->advance(backend_, false)) return;
  try {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = tandem::detail::start_thread("td-messages", [this] { work(); });
  } catch (const std::exception& error) {  // a part of it may be on its way, so that nothing can come behind it
    backend_.abort(tandem::str("no thread can be started for messages: ", error.what(), "; raise the limit on threads"));
    return pending->end(std::current_exception());
  }
  {
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(pending));
  }
  changed_.notify_one();
  backend_.ring();
}

void Progress::work() {
  std::list<std::unique_ptr<Pending>> pending;
  bool look = false;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (pending.empty()) changed_.wait(lock, [&] { return ending_ || !added_.empty(); });
      pending.splice(pending.end(), added_);
      if (pending.empty()) return;
    }
    const uint32_t seen = backend_.news();
    const bool any = advance_all(pending, look);
    look = !any && !pending.empty() && !backend_.wait_for_news(seen);
  }
}

/// Whether one of them is over. Of those with one partner, the first looks whether that one is still there, and each whether its time is
/// over.
bool Progress::advance_all(std::list<std::unique_ptr<Pending>>& pending, bool look) {
  const auto now = Clock::now();
  std::vector<int> looked;
  return pending.remove_if([&](const std::unique_ptr<Pending>& one) {
    const int peer = one->message.call.root;
    const bool first = look && std::find(looked.begin(), looked.end(), peer) == looked.end();
    if (first) looked.push_back(peer);
    return one->advance(backend_, first || now >= one->context.deadline || one->context.aborted->load());
  }) > 0;
}

}  // namespace tandem::comm
