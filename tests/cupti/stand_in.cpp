#include "cupti/stand_in.h"

#include <cstring>
#include <mutex>

using tandem::testing::CuptiStandIn;

namespace {

std::recursive_mutex mutex;
thread_local std::vector<uint64_t> ids;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_TimestampCallbackFunc timestamp = nullptr;
uint8_t* buffer = nullptr;
size_t room = 0, used = 0;
uint32_t correlations = 0;

void ran(CUpti_ActivityKind kind, uint64_t begin, uint64_t end);

CuptiStandIn& state() {
  static auto* const one = [] {
    auto* const made = new CuptiStandIn;
    made->ran = ran;
    return made;
  }();
  return *one;
}

void misuse(const char* what) { state().misuses.emplace_back(what); }

size_t bytes_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_RUNTIME: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    default: return sizeof(CUpti_ActivityMemset4);
  }
}

void flush() {
  if (!buffer) return;
  complete(nullptr, 0, buffer, room, used);
  buffer = nullptr;
}

template <class Record>
void add(const Record& record) {
  if (buffer && used + sizeof record > room) flush();
  if (!buffer) {
    size_t most = 1;
    request(&buffer, &room, &most);
    used = 0;
    if (!buffer || reinterpret_cast<uintptr_t>(buffer) % 8 != 0 || most != 0 || room < sizeof record)
      return misuse("a buffer that is not aligned to 8 bytes, or too small");
  }
  std::memcpy(buffer + used, &record, sizeof record);
  used += sizeof record;
  if (state().flush_at_once) flush();
}

template <class Record>
void add(CUpti_ActivityKind kind, uint64_t begin, uint64_t end) {
  Record record = {};
  record.kind = kind;
  record.start = begin;
  record.end = end;
  record.correlationId = correlations;
  add(record);
}

/// An id that was pushed is told of beside the record of a call, as CUPTI's documentation says, and of no other.
void called() {
  if (!state().enabled.contains(CUPTI_ACTIVITY_KIND_RUNTIME)) return;
  if (!ids.empty() && state().enabled.contains(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    CUpti_ActivityExternalCorrelation record = {};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    record.externalId = ids.back();
    record.correlationId = correlations;
    add(record);
  }
  add<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 1, 2);
}

/// The work's record comes first: nothing says in which order records are read.
void ran(CUpti_ActivityKind kind, uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex);
  if (!state().enabled.contains(kind)) return;
  ++correlations;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: add<CUpti_ActivityKernel10>(kind, begin, end); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: add<CUpti_ActivityMemcpy6>(kind, begin, end); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: add<CUpti_ActivityMemcpyPtoP4>(kind, begin, end); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: add<CUpti_ActivityMemset4>(kind, begin, end); break;
    default: return misuse("a kind of work that nobody asked for");
  }
  called();
}

}  // namespace

CuptiStandIn* cupti_stand_in() { return &state(); }

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_AS_THE_TEST_WISHED";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  const std::lock_guard lock(mutex);
  if (!state().enabled.empty()) misuse("the clock was set after a kind was enabled");
  timestamp = function;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc of_request, CUpti_BuffersCallbackCompleteFunc of_complete) {
  request = of_request;
  complete = of_complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  if (state().on_enable != CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return state().on_enable;
  if (!request || !timestamp) misuse("a kind was enabled before there are buffers and a clock");
  if (!state().enabled.insert(kind).second) misuse("a kind was enabled twice");
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  state().enabled.erase(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t) {
  const std::lock_guard lock(mutex);
  flush();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* in, size_t bytes, CUpti_Activity** record) {
  uint8_t* const next = *record ? reinterpret_cast<uint8_t*>(*record) + bytes_of((*record)->kind) : in;
  if (next >= in + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t id) {
  const std::lock_guard lock(mutex);
  ids.push_back(id);
  ++state().ids;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t* last) {
  const std::lock_guard lock(mutex);
  if (ids.empty()) {
    misuse("more ids were popped than pushed");
    return CUPTI_ERROR_QUEUE_EMPTY;
  }
  *last = ids.back();
  ids.pop_back();
  --state().ids;
  return CUPTI_SUCCESS;
}

}  // extern "C"
