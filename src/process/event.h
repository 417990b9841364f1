// Signals between processes: Event and Semaphore.
#pragma once

#include <memory>

#include "process/codec.h"
#include "process/deadline.h"

namespace tandem::multiprocessing {

namespace detail {
/// A counter of the system's, whose descriptor processes share. Copies are the same one.
class Counter {
 public:
  enum class Kind { Event, Semaphore };
  Counter(Kind kind, unsigned value, const char* op);
  void put(Parcel& parcel) const;
  [[nodiscard]] static Counter take(Received& received);

  [[nodiscard]] bool is_zero() const;
  /// Waits until it is not zero.
  bool wait(const Deadline& deadline, const char* op) const;
  /// Takes one away from a semaphore, all from an event; false where there was none.
  bool take_away() const;
  void add(unsigned count, const char* op) const;

 private:
  explicit Counter(Descriptor file);
  std::shared_ptr<const Descriptor> file_;
  std::shared_ptr<Peers> peers_;
};
}  // namespace detail

/// A flag that processes wait for. Copies are the same event. A wait for a process that was started with the event, and fails, is a
/// ProcessError that says how. As multiprocessing.Event.
class Event {
 public:
  /// Not set. Error where no more files may be open.
  Event();
  /// Whether it is set.
  [[nodiscard]] bool is_set() const;
  void set() const;
  void clear() const;
  /// Waits until it is set; false when the time is over first.
  bool wait(Timeout timeout = {}) const;

 private:
  friend struct Codec<Event>;
  explicit Event(detail::Counter counter) : counter_(std::move(counter)) {}
  detail::Counter counter_;
};

/// A number of permits. Copies are the same semaphore. One that a process held when it died is lost. Waits as those of Event. As
/// multiprocessing.Semaphore.
class Semaphore {
 public:
  explicit Semaphore(unsigned permits = 1);
  /// Takes a permit; false when none came free in time.
  bool acquire(Timeout timeout = {}) const;
  /// Gives permits back, or adds new ones.
  void release(unsigned permits = 1) const;

 private:
  friend struct Codec<Semaphore>;
  explicit Semaphore(detail::Counter counter) : counter_(std::move(counter)) {}
  detail::Counter counter_;
};

template <>
struct Codec<Event> {
  static void put(detail::Parcel& parcel, const Event& value) { value.counter_.put(parcel); }
  static Event take(detail::Received& received) { return Event(detail::Counter::take(received)); }
};
template <>
struct Codec<Semaphore> {
  static void put(detail::Parcel& parcel, const Semaphore& value) { value.counter_.put(parcel); }
  static Semaphore take(detail::Received& received) { return Semaphore(detail::Counter::take(received)); }
};

}  // namespace tandem::multiprocessing
