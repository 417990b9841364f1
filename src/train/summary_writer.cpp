// The numbers of the fields are those of TensorBoard's event.proto, summary.proto, tensor.proto, and the hparams plugin's plugin_data.proto
// and api.proto.
#include "train/summary_writer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "io/event_file.h"
#include "io/png.h"
#include "io/protobuf.h"
#include "tensor/host_values.h"

namespace tandem::train {
namespace {

using io::Message;

double wall_time() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Message plugin(const std::string& name, const Message& content = {}) {
  return Message().message(1, Message().bytes(1, name).message(2, content));
}

/// The upper ends of buckets for numbers from 1e-12 to 1e20, each a tenth above the one before, and the same below 0; the last takes the
/// rest.
const std::vector<double>& bucket_limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> positive;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
    std::vector<double> all;
    for (size_t i = positive.size(); i-- > 0;) all.push_back(-positive[i]);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    all.push_back(std::numeric_limits<double>::max());
    return all;
  }();
  return limits;
}

Message histogram(const std::vector<double>& values) {
  const std::vector<double>& limits = bucket_limits();
  std::vector<double> counts(limits.size());
  double low = values[0], high = low, sum = 0, squares = 0;
  for (const double value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    squares += value * value;
    // The first limit above the value: a bucket holds its lower end, as NumPy's do.
    const auto bucket = std::upper_bound(limits.begin(), limits.end() - 1, value);
    ++counts[static_cast<size_t>(bucket - limits.begin())];
  }
  // Empty buckets at both ends are left out, but one below: its limit is where the first begins.
  const auto taken = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), taken);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), taken).base();
  const auto begin = static_cast<size_t>(first - counts.begin()) - (first == counts.begin() ? 0 : 1);
  const auto size = static_cast<size_t>(last - counts.begin()) - begin;
  return Message()
      .real(1, low)
      .real(2, high)
      .real(3, static_cast<double>(values.size()))
      .real(4, sum)
      .real(5, squares)
      .reals(6, {limits.data() + begin, size})
      .reals(7, {counts.data() + begin, size});
}

/// google.protobuf.Value.
Message json_value(const HParam& value) {
  Message out;
  if (const auto* flag = std::get_if<bool>(&value)) out.integer(4, *flag ? 1 : 0);
  else if (const auto* number = std::get_if<double>(&value)) out.real(2, *number);
  else out.bytes(3, std::get<std::string>(value));
  return out;
}

/// The hparams plugin's DataType.
int type_of(const HParam& value) { return std::holds_alternative<std::string>(value) ? 1 : std::holds_alternative<bool>(value) ? 2 : 3; }

Message hparams_value(const std::string& tag, int field, const Message& content) {
  // TensorBoard asks for a tensor, too: an empty one of float32.
  const Message tensor = Message().integer(1, 1).message(2, Message());
  const Message data = Message().integer(1, 0).message(field, content);
  return Message().bytes(1, "_hparams_/" + tag).message(8, tensor).message(9, plugin("hparams", data));
}

/// What a tag may be as a folder's name.
std::string folder_name(std::string tag) {
  std::replace(tag.begin(), tag.end(), '/', '_');
  std::replace(tag.begin(), tag.end(), ' ', '_');
  return tag;
}

}  // namespace

SummaryWriter::SummaryWriter(std::string log_dir, Site)
    : log_dir_(std::move(log_dir)), file_(std::make_unique<io::EventFile>("SummaryWriter", log_dir_)) {
  file_->add(Message().real(1, wall_time()).bytes(3, "brain.Event:2").str());
}
SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&&) noexcept = default;
SummaryWriter::~SummaryWriter() = default;

const std::string& SummaryWriter::path() const { return file_->path(); }

void SummaryWriter::flush() {
  file_->flush();
  for (const auto& [folder, other] : others_) other->flush();
}

void SummaryWriter::add_summary(const Message& value, int64_t step) {
  file_->add(Message().real(1, wall_time()).integer(2, step).message(5, Message().message(1, value)).str());
}

void SummaryWriter::add_scalar(const std::string& tag, double value, int64_t step) {
  add_summary(Message().bytes(1, tag).real32(2, static_cast<float>(value)), step);
}

void SummaryWriter::add_scalars(const std::string& tag, const std::map<std::string, double>& values, int64_t step) {
  for (const auto& [name, value] : values) {
    auto& other = others_[folder_name(tag + "_" + name)];
    if (!other) other = std::make_unique<SummaryWriter>((std::filesystem::path(log_dir_) / folder_name(tag + "_" + name)).string());
    other->add_scalar(tag, value, step);
  }
}

void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values, int64_t step, Site site) {
  HostValues host = read_values(values, -1, "add_histogram", site);
  if (!is_floating(host.dtype)) host.floating.assign(host.integers.begin(), host.integers.end());
  if (host.floating.empty()) fail("[SummaryWriter.add_histogram] ", tag, ": the tensor has no elements: its sizes are ", values.sizes());
  const auto infinite = std::count_if(host.floating.begin(), host.floating.end(), [](double value) { return !std::isfinite(value); });
  if (infinite > 0)
    fail("[SummaryWriter.add_histogram] ", tag, ": ", static_cast<int64_t>(infinite), " of ", host.floating.size(),
         " elements are infinite or nan");
  add_summary(Message().bytes(1, tag).message(5, histogram(host.floating)), step);
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& image, int64_t step, Site site) {
  const std::string png = io::encode_png(image, site);
  const int64_t channels = image.dim() == 2 ? 1 : image.size(0);
  const Message picture = Message().integer(1, image.size(-2)).integer(2, image.size(-1)).integer(3, channels).bytes(4, png);
  add_summary(Message().bytes(1, tag).message(4, picture), step);
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text, int64_t step) {
  constexpr int kString = 7;  // DT_STRING
  const Message shape = Message().message(2, Message().integer(1, 1));
  const Message tensor = Message().integer(1, kString).message(2, shape).bytes(8, text);
  add_summary(Message().bytes(1, tag + "/text_summary").message(8, tensor).message(9, plugin("text")), step);
}

void SummaryWriter::add_hparams(const std::map<std::string, HParam>& hparams, const std::map<std::string, double>& metrics) {
  Message experiment, start;
  for (const auto& [name, value] : hparams) {
    experiment.message(4, Message().bytes(1, name).integer(4, type_of(value)));
    start.message(1, Message().bytes(1, name).message(2, json_value(value)));
  }
  for (const auto& [name, value] : metrics) experiment.message(5, Message().message(1, Message().bytes(2, name)));
  start.real(5, wall_time());
  add_summary(hparams_value("experiment", 2, experiment), 0);
  add_summary(hparams_value("session_start_info", 3, start), 0);
  add_summary(hparams_value("session_end_info", 4, Message().integer(1, 1).real(2, wall_time())), 0);
  for (const auto& [name, value] : metrics) add_scalar(name, value, 0);
}

}  // namespace tandem::train
