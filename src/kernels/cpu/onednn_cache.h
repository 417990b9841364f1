// A cache of oneDNN's primitives: one bound on bytes for the process, and the least recently used go first. A primitive is shared by all
// threads. The memory objects that it runs on belong to one thread at a time, which keeps those that it used last.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fork.h"

namespace tandem::kernels::cpu {

/// The cache's entry for one shape, of whatever kind of primitive.
class CachedPrimitive {
 public:
  explicit CachedPrimitive(size_t bytes) : bytes_(bytes) {}
  virtual ~CachedPrimitive() = default;
  CachedPrimitive(const CachedPrimitive&) = delete;
  CachedPrimitive& operator=(const CachedPrimitive&) = delete;

 private:
  friend class PrimitiveList;
  /// Takes itself out of its map and hands itself over.
  virtual std::unique_ptr<CachedPrimitive> leave() noexcept = 0;

  size_t bytes_;
  int users_ = 0;
  std::list<CachedPrimitive*> node_{this};  // until it is in the list of all
  const std::list<CachedPrimitive*>::iterator place_ = node_.begin();
};

/// All entries of all kinds. Its functions are called under `mutex`.
class PrimitiveList {
 public:
  tandem::detail::ForkSafeMutex mutex;
  tandem::detail::ForkSafeMutex making;  // while one is made, with `mutex` free: oneDNN holds locks of its own then

  void add(CachedPrimitive& primitive) noexcept;
  void use(CachedPrimitive& primitive) noexcept;
  void leave(CachedPrimitive& primitive) noexcept { --primitive.users_; }
  /// Counts more (or fewer) bytes for it.
  void grow(CachedPrimitive& primitive, ptrdiff_t bytes) noexcept;
  /// What has to go because of the bound; nullptr where nothing more can. To be destroyed when `mutex` is free.
  [[nodiscard]] std::unique_ptr<CachedPrimitive> surplus() noexcept;

 private:
  std::list<CachedPrimitive*> by_use_;  // the last used first
};
PrimitiveList& all_primitives();

/// The entries of one kind. A Made is made from a Key, and its Made::Arguments, the memory objects, from a const Made&. `kBytes` of each is
/// about what one takes. Never destroyed.
template <class Key, class Made, class Hash>
class PrimitiveCache {
  using Arguments = typename Made::Arguments;

  class Entry final : public CachedPrimitive {
   public:
    template <class... More>
    Entry(PrimitiveCache& cache, const Key& k, const More&... more)
        : CachedPrimitive(Made::kBytes), key(k), made(k, more...), cache_(cache) {}

    const Key key;
    const Made made;
    std::vector<std::unique_ptr<Arguments>> idle;  // has room for all there are
    size_t arguments = 0;                          // in use, and idle

   private:
    std::unique_ptr<CachedPrimitive> leave() noexcept override {
      const auto found = cache_.entries_.find(key);
      std::unique_ptr<Entry> self = std::move(found->second);
      cache_.entries_.erase(found);
      return self;
    }
    PrimitiveCache& cache_;
  };

 public:
  /// What a thread may run.
  class Lease {
   public:
    Lease() = default;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { give_back(); }
    [[nodiscard]] const Made& made() const { return entry_->made; }
    [[nodiscard]] Arguments& arguments() const { return *arguments_; }

   private:
    friend class PrimitiveCache;
    void give_back() noexcept {
      if (!entry_) return;
      const std::lock_guard lock(all_primitives().mutex);
      entry_->idle.push_back(std::move(arguments_));
      all_primitives().leave(*std::exchange(entry_, nullptr));
    }
    Entry* entry_ = nullptr;
    std::unique_ptr<Arguments> arguments_;
  };

  /// The calling thread's lease of the entry for `key`, until it asks for another of this kind; nullptr where there is no entry.
  Lease* find(const Key& key) {
    Lease& mine = own();
    if (mine.entry_ && mine.entry_->key == key) return &mine;
    mine.give_back();
    std::unique_lock lock(all_primitives().mutex);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    take(mine, *found->second, lock);
    return &mine;
  }

  /// The same, made from the key and `more` where there is no entry.
  template <class... More>
  Lease& make(const Key& key, const More&... more) {
    const std::lock_guard making(all_primitives().making);
    if (Lease* const known = find(key)) return *known;  // another thread was faster
    auto entry = std::make_unique<Entry>(*this, key, more...);
    std::unique_lock lock(all_primitives().mutex);
    Entry& added = *entries_.emplace(key, std::move(entry)).first->second;
    all_primitives().add(added);
    take(own(), added, lock);
    return own();
  }

 private:
  static Lease& own() {
    thread_local Lease mine;
    return mine;
  }

  /// `lock` is held, and free after it.
  void take(Lease& mine, Entry& entry, std::unique_lock<tandem::detail::ForkSafeMutex>& lock) {
    PrimitiveList& all = all_primitives();
    if (entry.idle.empty()) entry.idle.reserve(entry.arguments + 1);
    all.use(entry);
    std::unique_ptr<Arguments> arguments;
    if (!entry.idle.empty()) {
      arguments = std::move(entry.idle.back());
      entry.idle.pop_back();
      lock.unlock();
    } else {
      ++entry.arguments;
      all.grow(entry, Arguments::kBytes);
      while (std::unique_ptr<CachedPrimitive> gone = all.surplus()) {
        lock.unlock();
        gone.reset();
        lock.lock();
      }
      lock.unlock();
      try {
        arguments = std::make_unique<Arguments>(entry.made);
      } catch (...) {
        lock.lock();
        --entry.arguments;
        all.grow(entry, -static_cast<ptrdiff_t>(Arguments::kBytes));
        all.leave(entry);
        throw;
      }
    }
    mine.entry_ = &entry;
    mine.arguments_ = std::move(arguments);
  }

  std::unordered_map<Key, std::unique_ptr<Entry>, Hash> entries_;
};

}  // namespace tandem::kernels::cpu
