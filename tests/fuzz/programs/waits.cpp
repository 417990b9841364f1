// The waits of a correct program: before each use of memory for the stream that wrote it last, before a change for every stream that may
// read it. Only those: what backward and grad() promise to the stream that calls them is not waited for again.
#include "machine.h"

namespace fuzz {

td::cuda::Stream Machine::stream(int device, int number) const {
  return streams_[static_cast<size_t>(device % setting_.gpus)][static_cast<size_t>(number)];
}

void Machine::use(Lane& lane, int number) {
  if (lane.capturing || lane.stream == number) return;
  lane.stream = number;
  say(lane, "use(", number, ");");
  if (!on_gpus()) return;
  for (const auto& all : streams_) td::cuda::set_stream(all[static_cast<size_t>(number)]);
}

void Machine::wait(Lane& lane, const Memory& from, int device) {
  if (lane.capturing || setting_.gpus == 0 || device < 0 || from.stream < 0 || from.stream == lane.stream) return;
  const std::string here = "stream(" + device_text(device) + ", " + std::to_string(lane.stream) + ")";
  if (from.event_number >= 0) {
    say(lane, here, ".wait_event(event_", from.event_number, ");");
    if (from.event) stream(device, lane.stream).wait_event(*from.event);
  } else {
    say(lane, here, ".wait_stream(stream(", device_text(device), ", ", from.stream, "));");
    if (on_gpus()) stream(device, lane.stream).wait_stream(stream(device, from.stream));
  }
}

void Machine::wait_for_all(Lane& lane, int device) {
  if (lane.capturing || device < 0 || setting_.gpus == 0) return;
  say(lane, "wait_for_all(", device_text(device), ", ", lane.stream, ");");
  if (!on_gpus()) return;
  for (int s = 0; s < kStreams; ++s)
    if (s != lane.stream) stream(device, lane.stream).wait_stream(stream(device, s));
}

void Machine::wait_everywhere(Lane& lane) {
  for (int d = 0; d < setting_.gpus; ++d) wait_for_all(lane, d);
}

void Machine::record_use(Lane& lane, const td::Tensor& x, int device, const std::string& text) {
  if (lane.capturing || device < 0 || setting_.gpus == 0) return;
  say(lane, text, ".record_stream(stream(", device_text(device), ", ", lane.stream, "));");
  if (on_gpus()) x.record_stream(stream(device, lane.stream));
}

void Machine::before_read(Lane& lane, int i) {
  Memory& m = memory(slot(i).memory);
  wait(lane, m, slot(i).device);
  if (m.made_on != lane.stream) record_use(lane, slot(i).tensor, slot(i).device, name(i));
  if (slot(i).memory < kThreads && m.stream != lane.stream) m.read_elsewhere = true;
}

void Machine::before_write(Lane& lane, int i) {
  wait_for_all(lane, slot(i).device);
  if (memory(slot(i).memory).made_on != lane.stream) record_use(lane, slot(i).tensor, slot(i).device, name(i));
}

void Machine::after_write(Lane& lane, const Operation& o, Memory& to, int device) {
  to.stream = lane.stream;
  to.event = nullptr;
  to.event_number = -1;
  if (!o.event || lane.capturing || device < 0 || setting_.gpus == 0) return;
  to.event_number = o.number;
  say(lane, "td::cuda::Event& event_", o.number, " = record(stream(", device_text(device), ", ", lane.stream, "));");
  if (!on_gpus()) return;
  to.event = std::make_shared<td::cuda::Event>();
  to.event->record(stream(device, lane.stream));
}

void Machine::before_gradient_read(Lane& lane, const Slot& of) {
  Memory& gradients = memory(lane.thread);
  const Memory& m = memory(of.memory);
  if (of.device < 0 || lane.capturing) return;
  const td::Tensor gradient = gradient_of(of.tensor);
  const std::string text = name(static_cast<int>(&of - slots_.data())) + ".grad()";
  if (m.retained || !of.tensor.is_leaf()) {  // written on its node's stream
    wait_for_all(lane, of.device);
    record_use(lane, gradient, of.device, text);
  } else if (gradients.stream >= 0 && gradients.stream != lane.stream) {
    wait_for_all(lane, of.device);
    record_use(lane, gradient, of.device, text);
    gradients.read_elsewhere = true;
  }
}

void Machine::before_backward(Lane& lane) {
  const Memory& gradients = memory(lane.thread);
  if ((gradients.stream >= 0 && gradients.stream != lane.stream) || gradients.read_elsewhere) wait_everywhere(lane);
}

void Machine::after_backward(Lane& lane) {
  Memory& gradients = memory(lane.thread);
  gradients.stream = lane.stream;
  gradients.read_elsewhere = false;
  gradients.event = nullptr;
  gradients.event_number = -1;
}

void Machine::meet(Lane& lane) {
  if (setting_.gpus > 0) say(lane, "meet();");
  if (on_gpus()) {
    for (const auto& all : streams_) {
      for (int s = 1; s < kStreams; ++s) all[0].wait_stream(all[static_cast<size_t>(s)]);
      for (int s = 1; s < kStreams; ++s) all[static_cast<size_t>(s)].wait_stream(all[0]);
    }
  }
  for (Memory& m : memories_) {
    m.stream = -1;
    m.event = nullptr;
    m.event_number = -1;
    m.read_elsewhere = false;
  }
}

}  // namespace fuzz
