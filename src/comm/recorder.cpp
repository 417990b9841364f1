// A ring of fixed records. A record is written by its owner alone and read by anybody at any time: its number is taken away first and put
// back last, so that a reader knows a record that changed under its eyes. Every word is an atomic, since readers are not ordered with it.
#include "comm/recorder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace tandem::comm {
namespace {

constexpr int kSizes = 6;          // of a call's tensor that are kept
constexpr size_t kFileWords = 6;   // of a call's file name: its last 48 characters
constexpr size_t kLabelWords = 8;  // and of its label

struct Record {
  std::atomic<uint64_t> place{0};  // counts from 1; 0 while it is being written
  std::atomic<uint64_t> number{0};
  std::atomic<uint64_t> kind{0};  // kind, op, dtype, dimensions, state: a byte each
  std::atomic<uint64_t> root_and_tag{0};
  std::atomic<int64_t> line{0};
  std::atomic<int64_t> queued{0}, started{0}, ended{0};
  std::atomic<int64_t> sizes[kSizes]{};
  std::atomic<uint64_t> file[kFileWords]{};
  std::atomic<uint64_t> label[kLabelWords]{};
};
static_assert(sizeof(Record) == 224);

struct Memory {
  std::atomic<uint64_t> places{0};
  Record records[kRecordedCalls];
};

const Memory& memory_of(const void* memory) { return *static_cast<const Memory*>(memory); }

// The words between two looks at `place` are loaded and stored so that they stay between them.
constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire, release = std::memory_order_release;

// Times are kept as the steady clock's, which all processes of a machine share and which waits are measured by too.
int64_t nanoseconds(auto time) { return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count(); }
int64_t now() { return nanoseconds(std::chrono::steady_clock::now()); }

uint64_t kind_word(const Call& call, CallState state) {
  return static_cast<uint64_t>(call.kind) | static_cast<uint64_t>(call.op) << 8 | static_cast<uint64_t>(call.dtype) << 16 |
         static_cast<uint64_t>(call.sizes.size()) << 24 | static_cast<uint64_t>(state) << 32;
}

constexpr uint64_t kStateMask = uint64_t{0xff} << 32;

void set_state(Record& record, CallState state) {
  record.kind.store((record.kind.load(relaxed) & ~kStateMask) | static_cast<uint64_t>(state) << 32, relaxed);
}

/// The end of a text, padded with zeros.
template <size_t N>
void keep_text(std::atomic<uint64_t> (&words)[N], std::string_view text) {
  if (text.size() > N * 8) text.remove_prefix(text.size() - N * 8);
  for (size_t i = 0; i < N; ++i) {
    uint64_t word = 0;
    if (i * 8 < text.size()) std::memcpy(&word, text.data() + i * 8, std::min<size_t>(8, text.size() - i * 8));
    words[i].store(word, release);
  }
}
/// What was kept; its end is the first zero.
template <size_t N>
std::array<char, N * 8 + 1> kept_text(const std::atomic<uint64_t> (&words)[N]) {
  std::array<char, N * 8 + 1> text{};
  for (size_t i = 0; i < N; ++i) {
    const uint64_t word = words[i].load(acquire);
    std::memcpy(text.data() + i * 8, &word, 8);
  }
  return text;
}

// What is in a record; false where it changed meanwhile, or never was one.
bool read(const Record& record, RecordedCall& out) {
  const uint64_t place = record.place.load(acquire);
  if (place == 0) return false;
  const uint64_t kind = record.kind.load(acquire), pair = record.root_and_tag.load(acquire);
  Call call;
  call.number = record.number.load(acquire);
  call.kind = static_cast<Collective>(std::min<uint64_t>(kind & 0xff, kCollectives - 1));
  call.op = static_cast<ReduceOp>(std::min<uint64_t>(kind >> 8 & 0xff, static_cast<uint64_t>(ReduceOp::MAX)));
  call.dtype = static_cast<DType>(std::min<uint64_t>(kind >> 16 & 0xff, kDTypes - 1));
  call.root = static_cast<int32_t>(pair & 0xffffffffU);
  call.tag = static_cast<int32_t>(pair >> 32);
  for (size_t i = 0; i < std::min<size_t>(kind >> 24 & 0xff, kSizes); ++i) call.sizes.push_back(record.sizes[i].load(acquire));
  const auto file = kept_text(record.file);
  call.site = Site(static_cast<const char*>(file.data()), static_cast<int>(record.line.load(acquire)));
  call.label = kept_text(record.label).data();
  out.state = static_cast<CallState>(std::min<uint64_t>(kind >> 32 & 0xff, static_cast<uint64_t>(CallState::Failed)));
  out.queued = record.queued.load(acquire);
  out.started = record.started.load(acquire);
  out.ended = record.ended.load(acquire);
  if (record.place.load(relaxed) != place) return false;
  out.number = call.number;
  out.text = str(call);
  out.point_to_point = point_to_point(call.kind);
  return true;
}

}  // namespace

size_t recorder_bytes() { return sizeof(Memory); }

uint64_t Recorder::queued(const Call& call, std::chrono::steady_clock::time_point now, bool started) {
  const int64_t time = nanoseconds(now);
  auto& memory = *static_cast<Memory*>(memory_);
  const uint64_t place = memory.places.fetch_add(1, relaxed) + 1;
  Record& record = memory.records[place % kRecordedCalls];
  record.place.store(0, relaxed);
  record.number.store(call.number, release);
  record.kind.store(kind_word(call, started ? CallState::Started : CallState::Queued), release);
  record.root_and_tag.store(static_cast<uint32_t>(call.root) | static_cast<uint64_t>(static_cast<uint32_t>(call.tag)) << 32, release);
  record.line.store(call.site.line, release);
  record.queued.store(time, release);
  record.started.store(started ? time : 0, release);
  record.ended.store(0, release);
  for (size_t i = 0; i < std::min<size_t>(call.sizes.size(), kSizes); ++i) record.sizes[i].store(call.sizes[i], release);
  keep_text(record.file, call.site.file);
  keep_text(record.label, call.label);
  record.place.store(place, release);
  return place;
}

void Recorder::started(uint64_t place) {
  Record& record = static_cast<Memory*>(memory_)->records[place % kRecordedCalls];
  if (record.place.load(relaxed) != place) return;  // written over long ago
  record.started.store(now(), relaxed);
  set_state(record, CallState::Started);
}

void Recorder::ended(uint64_t place, bool well) {
  Record& record = static_cast<Memory*>(memory_)->records[place % kRecordedCalls];
  if (record.place.load(relaxed) != place) return;
  record.ended.store(now(), relaxed);
  set_state(record, well ? CallState::Completed : CallState::Failed);
}

std::vector<RecordedCall> recorded_calls(const void* memory) {
  std::vector<RecordedCall> calls;
  const int64_t since_1970 = nanoseconds(std::chrono::system_clock::now()) - now();
  const uint64_t last = memory_of(memory).places.load(acquire);
  for (uint64_t place = last > kRecordedCalls ? last - kRecordedCalls + 1 : 1; place <= last; ++place)
    if (RecordedCall call; read(memory_of(memory).records[place % kRecordedCalls], call)) {
      for (int64_t* const time : {&call.queued, &call.started, &call.ended})
        if (*time) *time += since_1970;
      calls.push_back(std::move(call));
    }
  return calls;
}

std::string last_seen(const void* memory) {
  const std::vector<RecordedCall> calls = recorded_calls(memory);
  if (calls.empty()) return "before its first collective";
  // The first that has not ended is what holds the rank up.
  const auto held = std::find_if(calls.begin(), calls.end(), [](const RecordedCall& call) { return call.ended == 0; });
  const RecordedCall& call = held != calls.end() ? *held : calls.back();
  const int64_t asked = nanoseconds(std::chrono::system_clock::now());
  const auto seconds = [&](int64_t since) {
    const int64_t hundredths = (asked - since) / 10000000;
    return tandem::str(static_cast<double>(hundredths) / 100, " s");
  };
  const std::string which = tandem::str(call.text, " (its call ", call.number, ')');
  switch (call.state) {
    case CallState::Queued: return tandem::str("with ", which, " queued for ", seconds(call.queued));
    case CallState::Started: return tandem::str("in ", which, " for ", seconds(call.started));
    case CallState::Completed: return tandem::str("outside of collectives since ", which, " ended, ", seconds(call.ended), " ago");
    default: return tandem::str("outside of collectives since ", which, " failed, ", seconds(call.ended), " ago");
  }
}

}  // namespace tandem::comm
