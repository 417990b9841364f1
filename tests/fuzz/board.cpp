// What the board reads of a run: an event file whose records are pieces of the input, in frames with right checksums or without; a
// summary, and a trace.
#include <filesystem>
#include <fstream>

#include "fuzz.h"
#include "io/event_file.h"
#include "tools/board/run.h"
#include "tools/board/timeline.h"

namespace {

namespace fs = std::filesystem;
using namespace tandem::tools::board;

void write(const fs::path& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace

void fuzz::read(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto kind = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  const fs::path events = folder() / "events.out.tfevents.1";
  fs::remove(folder() / "summary.json");
  std::string file;
  if (kind % 4 == 0) file = bytes;
  for (std::string_view rest = bytes; kind % 4 != 0 && !rest.empty();) {
    const size_t size = std::min<size_t>(rest.size() - 1, static_cast<unsigned char>(rest[0]));
    file += tandem::io::event_frame(rest.substr(1, size));
    rest.remove_prefix(1 + size);
  }
  if (kind % 4 == 2) write(folder() / "summary.json", bytes);
  if (kind % 4 == 3) {
    write(folder() / "trace.json", bytes);
    (void)succeeds([&] {
      (void)timeline_of((folder() / "trace.json").string()).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    });
  }
  // The first half, then all: as a file that grows.
  Run run("run", folder());
  const auto read_all = [&] {
    (void)run.read(1 << 12);
    for (int i = 0; i < 1000 && run.behind(); ++i) (void)run.read(1 << 12);
    expect(!run.behind(), "there is always more to read");
  };
  for (const size_t part : {file.size() / 2, file.size()}) {
    write(events, std::string_view(file).substr(0, part));
    read_all();
  }
  expect(is_run(folder()), "a folder with an event file that is no run");
  for (const auto& [tag, curve] : run.curves()) expect(curve.thinned(8).size() <= 8, "more points than asked for");
  for (const auto& [tag, all] : run.histograms())
    for (const Stored& stored : all) (void)succeeds([&] { (void)run.buckets_of(stored); });
  for (const auto& [tag, all] : run.pictures())
    for (const Stored& stored : all) expect(run.bytes_of(stored).size() == stored.bytes, "a picture of another size");
  if (kind < 128) return;
  // A file that is written anew: shorter, and then gone. What was read of it is forgotten.
  const size_t tags = run.curves().size();
  write(events, "");
  read_all();
  write(events, file);
  read_all();
  read_all();
  expect(run.curves().size() == tags, "a file that is written anew has other curves");
  fs::remove(events);
  read_all();
  read_all();
  expect(run.curves().empty() && run.pictures().empty() && run.histograms().empty(), "a file that is gone has left something");
}
