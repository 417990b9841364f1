#include "observe/memory/memory_scope.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "base/error.h"
#include "base/fork.h"
#include "runtime/memory_text.h"
#include "runtime/observer.h"

namespace tandem::cuda::memory {

class Scope::Followed final : public runtime::Observer {
 public:
  struct Block {
    Device device;
    Site site;
    size_t bytes;
  };

  void mark(const runtime::facts::MemoryMark& mark) noexcept override {
    using Mark = runtime::facts::MemoryMark;
    if (mark.kind != Mark::Allocated && mark.kind != Mark::Freed) return;
    try {
      const std::lock_guard lock(mutex_);
      if (mark.kind == Mark::Freed) blocks_.erase(mark.address);
      else blocks_.insert_or_assign(mark.address, Block{mark.device, mark.site, mark.bytes});
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory for it the block is not followed
    }
  }
  [[nodiscard]] std::unordered_map<const void*, Block> blocks() {
    const std::lock_guard lock(mutex_);
    return blocks_;
  }

 private:
  tandem::detail::ForkSafeMutex mutex_;
  std::unordered_map<const void*, Block> blocks_;
};

Scope::Scope() : followed_(std::make_unique<Followed>()) { runtime::add_observer(*followed_); }
Scope::~Scope() { runtime::remove_observer(*followed_); }

std::vector<Scope::Held> Scope::held() const {
  std::map<std::tuple<int, std::string, int>, Held> by_line;
  for (const auto& [address, block] : followed_->blocks()) {
    Held& held = by_line[{block.device.index(), block.site.file, block.site.line}];
    held.device = block.device;
    held.file = block.site.file;
    held.line = block.site.line;
    held.bytes += block.bytes;
    ++held.count;
  }
  std::vector<Held> out;
  for (auto& [line, held] : by_line) out.push_back(std::move(held));
  std::stable_sort(out.begin(), out.end(), [](const Held& a, const Held& b) { return a.bytes > b.bytes; });
  return out;
}

std::string Scope::report() const {
  std::string text;
  for (const Held& held : held())
    text += str(runtime::line_text(held.file.c_str(), held.line), " holds ", runtime::readable_size(held.bytes), " in ", held.count,
                held.count == 1 ? " block of " : " blocks of ", held.device.is_cpu() ? "page-locked memory" : held.device.str(), "\n");
  return text;
}

}  // namespace tandem::cuda::memory
