#include "machine.h"

#include <cstring>
#include <thread>

namespace fuzz {
namespace {

std::string bytes_of(const td::Tensor& x) {
  if (!x.defined()) return "undefined";
  const td::Tensor host = x.detach().cpu().contiguous();
  std::string text = text_of(host.sizes()) + ":";
  text.append(static_cast<const char*>(host.data_ptr()), host.nbytes());
  return text;
}

/// Sizes and first elements of what bytes_of wrote.
std::string readable_text(const std::string& bytes) {
  const size_t colon = bytes.find(':');
  if (colon == std::string::npos || bytes[0] != '{') return bytes;
  std::ostringstream out;
  out << bytes.substr(0, colon) << " [";
  for (size_t at = colon + 1, shown = 0; at + sizeof(float) <= bytes.size() && shown < 6; at += sizeof(float), ++shown) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    out << (shown ? " " : "") << value;
  }
  out << (bytes.size() > colon + 1 + 6 * sizeof(float) ? " ...]" : "]");
  return out.str();
}

std::string place_of(std::pair<int, int> key) {
  if (key.first >= 20000) return "the shared leaf " + std::to_string(key.first - 20000) + (key.second ? "'s gradient" : "");
  if (key.first >= 10000) return "block " + std::to_string(key.first - 10000) + " of the program's memory, at the end";
  if (key.first >= 5000)
    return "t[" + std::to_string(key.first - 5000) + "]" +
           (key.second == 1   ? ".grad()"
            : key.second == 2 ? ".requires_grad()"
                              : "") +
           ", at the end";
  return "operation " + std::to_string(key.first);
}

}  // namespace

std::string difference(const Outcome& expected, const Outcome& got) {
  const auto said = [&](int number) {
    const auto error = got.errors.find(number);
    return error == got.errors.end() ? std::string() : " (" + error->second + ")";
  };
  for (const auto& [key, bytes] : expected.seen) {
    const auto found = got.seen.find(key);
    const size_t count = found == got.seen.end() ? 0 : found->second.size();
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (i >= count) return place_of(key) + ": expected " + readable_text(bytes[i]) + ", got nothing" + said(key.first);
      if (bytes[i] == found->second[i]) continue;
      std::string text =
          place_of(key) + ": expected " + readable_text(bytes[i]) + ", got " + readable_text(found->second[i]) + said(key.first);
      if (bytes[i].size() == found->second[i].size()) {
        size_t at = 0;
        while (bytes[i][at] == found->second[i][at]) ++at;
        text += ", from byte " + std::to_string(at) + " of " + std::to_string(bytes[i].size());
      }
      return text;
    }
    if (count > bytes.size()) return place_of(key) + ": got " + readable_text(found->second[bytes.size()]) + " too much" + said(key.first);
  }
  for (const auto& [key, bytes] : got.seen)
    if (!expected.seen.contains(key)) return place_of(key) + ": got " + readable_text(bytes[0]) + ", expected nothing" + said(key.first);
  return {};
}

Machine::Machine(Setting setting, int operations)
    : setting_(std::move(setting)),
      slots_(kSlots),
      memories_(static_cast<size_t>(kThreads + kBlobs + 2 * (operations + 1))),
      hooks_(static_cast<size_t>(operations + 1)) {
  for (int i = 0; i < kThreads; ++i) memory(i).made_on = -1;
  for (int i = 0; i < kBlobs; ++i) {
    std::vector<float>& blob = blobs_.emplace_back(256);
    for (size_t j = 0; j < blob.size(); ++j) blob[j] = static_cast<float>((j * 5 + static_cast<size_t>(i)) % 11) / 4 - 1;
    if (setting_.plain) {
      blob_tensors_.push_back(td::empty({static_cast<int64_t>(blob.size())}));
      std::memcpy(blob_tensors_.back().data_ptr(), blob.data(), blob.size() * sizeof(float));
    }
  }
  if (on_gpus()) {
    for (int d = 0; d < setting_.gpus; ++d) {
      auto& all = streams_.emplace_back();
      all.push_back(td::cuda::default_stream(td::gpu(d)));
      for (int s = 1; s < kStreams; ++s) all.emplace_back(td::gpu(d));
    }
  }
  for (int i = 0; i < kShared; ++i) {
    shared_.push_back(td::full({6}, 1.0, device(i - 1)));
    shared_.back().requires_grad_();
  }
}

Machine::~Machine() = default;

td::Device Machine::device(int number) const { return number < 0 || !on_gpus() ? td::cpu() : td::gpu(number % setting_.gpus); }

std::string Machine::device_text(int number) const {
  return number < 0 || setting_.gpus == 0 ? "td::cpu()" : "td::gpu(" + std::to_string(number % setting_.gpus) + ")";
}

int Machine::origin(const Operation& o) const {
  return o.capture ? -o.capture : o.thread ? (section_ + (segment_ == Segment::Threads ? 0 : 1)) * kThreads + o.thread : 0;
}

void Machine::note(int number, int part, std::string bytes) {
  const std::lock_guard lock(mutex_);
  outcome_.seen[{number, part}].push_back(std::move(bytes));
}

void Machine::show(int number, int part, const td::Tensor& x) { note(number, part, bytes_of(x)); }

void Machine::step(const Operation& o) {
  if (segment_of(o) != segment_ || o.capture != segment_capture_) {
    end();
    if (segment_of(o) != Segment::None) begin(o);
  }
  ++outcome_.operations;
  if (segment_ == Segment::None) return execute(main_, o);
  segment_operations_.push_back(o);
  if (!real()) execute(lanes_[static_cast<size_t>(o.thread)], o);
}

void Machine::begin(const Operation& first) {
  segment_ = segment_of(first);
  segment_capture_ = first.capture;
  before_segment_ = slots_;
  if (segment_ == Segment::Threads) {
    ++section_;
    meet(main_);
    for (int thread = 0; thread < kThreads; ++thread) lanes_.push_back({.thread = thread});
  } else {
    use(main_, first.stream);
    lanes_.push_back({.stream = first.stream, .capturing = true});
  }
}

void Machine::end() {
  const Segment ended = std::exchange(segment_, Segment::None);
  if (ended == Segment::None) return;
  if (ended == Segment::Threads) run_threads();
  else run_capture();
  segment_capture_ = 0;
  lanes_.clear();
  segment_operations_.clear();
  before_segment_.clear();
}

void Machine::run_threads() {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < lanes_.size(); ++i) {
    if (real())
      threads.emplace_back([this, &lane = lanes_[i]] {
        for (const auto& all : streams_) td::cuda::set_stream(all[0]);
        for (const Operation& o : segment_operations_)
          if (o.thread == lane.thread) execute(lane, o);
      });
    say(main_, "std::thread thread_", section_, "_", i, "([&] {");
    main_.text += lanes_[i].text;
    say(main_, "});");
  }
  for (size_t i = 1; i < lanes_.size(); ++i) say(main_, "thread_", section_, "_", i, ".join();");
  for (std::thread& thread : threads) thread.join();
  meet(main_);
  for (Slot& each : slots_)
    if (each.memory < kThreads) each.memory = 0;  // gradients
}

void Machine::run_capture() {
  Lane& lane = lanes_[0];
  int replays = 1 + segment_capture_ % 3, home = 0;
  for (const Operation& o : segment_operations_) {
    if (o.kind == Kind::Backward) replays = 1;  // the first one's gradients are written by each replay, not added to
    home = o.device;
  }
  const std::string graph = "graph_" + std::to_string(segment_capture_);
  if (setting_.gpus > 0) {
    say(main_, "td::cuda::Graph ", graph, ";");
    if (home % setting_.gpus) say(main_, "td::cuda::set_device(", home % setting_.gpus, ");");
    say(main_, "td::cuda::graph(", graph, ", [&] {");
    main_.text += lane.text;
    say(main_, "});");
  } else {
    main_.text += lane.text;
  }
  if (!on_gpus()) {
    const auto run = [&] {
      for (const Operation& o : segment_operations_) execute(lane, o);
    };
    if (real()) run();
    std::ostream* const text = std::exchange(setting_.text, nullptr);
    again_ = true;
    for (int i = 1; i < replays; ++i) {
      slots_ = before_segment_;
      run();
    }
    again_ = false;
    setting_.text = text;
    if (real()) return;
  } else {
    const td::cuda::DeviceGuard guard(device(home));
    td::cuda::Graph captured;
    try {
      td::cuda::graph(captured, [&] {
        for (const Operation& o : segment_operations_) execute(lane, o);
      });
    } catch (const std::exception& error) {
      note(segment_operations_[0].number, 9, std::string("the capture threw: ") + error.what());
      return;
    }
    wait_everywhere(main_);
    for (int i = 0; i < replays; ++i) captured.replay();
    graphs_.emplace_back(captured, before_segment_);
  }
  if (!on_gpus()) wait_everywhere(main_);
  for (int i = 0; i < replays; ++i) say(main_, graph, ".replay();");
  if (home % std::max(1, setting_.gpus)) say(main_, "td::cuda::set_device(0);");
  // What the graph read is used on this stream, what it wrote was written there.
  for (size_t i = 0; i < slots_.size(); ++i)
    if (before_segment_[i].tensor.defined() && before_segment_[i].device == home)
      record_use(main_, before_segment_[i].tensor, home, name(static_cast<int>(i)));
  for (const Operation& o : segment_operations_) {
    for (const int i : {o.out, o.kind == Kind::InPlace ? o.a : -1}) {
      if (i < 0) continue;
      Memory& m = memory(slot(i).memory);
      m.stream = main_.stream;
      m.event = nullptr;
      m.event_number = -1;
    }
  }
  if (setting_.gpus > 0) memory(0).stream = main_.stream;  // of any device: so all of them have been waited for
}

Outcome Machine::finish() {
  end();
  if (setting_.text) *setting_.text << std::exchange(main_.text, {});
  const auto write_out = [&](const std::string& what) {
    if (setting_.text && (setting_.ends.empty() || setting_.ends.find(what + ", at the end") != std::string::npos))
      *setting_.text << main_.text;
    main_.text.clear();
  };
  // First what backward promises to the stream that called it.
  if (memory(0).stream >= 0) use(main_, memory(0).stream);
  for (int i = 0; i < kSlots; ++i) {
    if (!slot(i).tensor.defined()) continue;
    note(5000 + i, 2, slot(i).tensor.requires_grad() ? "yes" : "no");
    const td::Tensor gradient = gradient_of(slot(i).tensor);
    if (!gradient.defined()) continue;
    before_gradient_read(main_, slot(i));
    say(main_, "show(t[", i, "].grad());");
    write_out(name(i) + ".grad()");
    show(5000 + i, 1, gradient);
  }
  for (int i = 0; i < kShared; ++i) show(20000 + i, 1, shared_[static_cast<size_t>(i)].grad());
  for (int i = 0; i < kSlots; ++i) {
    if (!slot(i).tensor.defined()) continue;
    before_read(main_, i);
    say(main_, "show(t[", i, "]);");
    write_out(name(i));
    show(5000 + i, 0, slot(i).tensor);
  }
  for (size_t i = 0; i < blobs_.size(); ++i) {
    const td::Tensor memory = setting_.plain ? blob_tensors_[i] : td::from_blob(blobs_[i].data(), {static_cast<int64_t>(blobs_[i].size())});
    show(10000 + static_cast<int>(i), 0, memory);
  }
  if (on_gpus()) {
    for (int d = 0; d < setting_.gpus; ++d) td::cuda::synchronize(d);
    for (const auto& all : streams_) td::cuda::set_stream(all[0]);
  }
  for (auto& [graph, slots] : graphs_) graph.reset();
  return std::move(outcome_);
}

}  // namespace fuzz
