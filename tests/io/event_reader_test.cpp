// Event files are read while they grow, and whatever they hold.
#include "io/event_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "io/event_file.h"
#include "io/protobuf.h"
#include "io/protobuf_reader.h"
#include "runtime/expect_error.h"

namespace tandem {
namespace {

using Records = std::vector<std::string>;

void write(const std::string& path, const std::string& bytes, std::ios::openmode mode = std::ios::trunc) {
  std::ofstream(path, std::ios::binary | mode) << bytes;
}
Records new_in(io::EventReader& reader, size_t most = 1 << 20) {
  Records all;
  while (reader.read([&](std::string_view record, uint64_t) { all.emplace_back(record); }, most)) {
  }
  return all;
}

TEST(EventReader, ReadsWhatIsNew) {
  write("growing", "");
  io::EventReader reader("growing");
  EXPECT_EQ(new_in(reader), Records());
  const std::string frame = io::event_frame("two and more");
  write("growing", io::event_frame("one") + frame.substr(0, 5), std::ios::app);
  EXPECT_EQ(new_in(reader), Records({"one"}));
  EXPECT_EQ(new_in(reader), Records());
  write("growing", frame.substr(5, 12), std::ios::app);
  EXPECT_EQ(new_in(reader), Records()) << "half a record is none";
  write("growing", frame.substr(17) + io::event_frame("") + io::event_frame("three"), std::ios::app);
  EXPECT_EQ(new_in(reader), Records({"two and more", "", "three"}));
}

TEST(EventReader, TakesPiecesOfAnySize) {
  Records records;
  std::string file;
  std::vector<uint64_t> offsets;
  for (size_t i = 0; i < 60; ++i) {
    records.emplace_back(i * i, static_cast<char>('a' + i % 26));
    offsets.push_back(file.size() + 12);
    file += io::event_frame(records.back());
  }
  write("pieces", file);
  for (const size_t most : {size_t{1}, size_t{12}, size_t{100}, size_t{5000}, file.size()}) {
    io::EventReader reader("pieces");
    EXPECT_EQ(new_in(reader, most), records) << most;
  }
  io::EventReader reader("pieces");
  size_t i = 0;
  while (reader.read(
      [&](std::string_view record, uint64_t offset) {
        EXPECT_EQ(offset, offsets[i++]);
        EXPECT_EQ(io::read_part("test", "pieces", offset, record.size()), record);
      },
      64)) {
  }
}

TEST(EventReader, SaysWhatIsWrong) {
  write("short", io::event_frame("one") + io::event_frame("two"));
  io::EventReader reader("short");
  EXPECT_EQ(new_in(reader).size(), 2U);
  write("short", io::event_frame("one"));
  EXPECT_ERROR((void)new_in(reader), io::ShorterError, "has become shorter: it had 38 bytes, and has 19");

  std::string damaged = io::event_frame("one") + io::event_frame("two") + io::event_frame("three");
  damaged[19 + 13] ^= 1;
  write("damaged", damaged);
  io::EventReader of_damaged("damaged");
  Records seen;
  EXPECT_ERROR((void)of_damaged.read([&](std::string_view record, uint64_t) { seen.emplace_back(record); }, 1 << 20), Error,
               "the checksum of the record at byte 19 is wrong");
  EXPECT_EQ(seen, Records({"one"}));
  write("no length", "this is no event file at all");
  io::EventReader of_text("no length");
  EXPECT_ERROR((void)new_in(of_text), Error, "the record at byte 0 has a length that is not its own");

  io::EventReader of_nothing("not there");
  EXPECT_ERROR((void)new_in(of_nothing), Error, "not there cannot be read: No such file");
  std::filesystem::remove("pipe");
  ASSERT_EQ(mkfifo("pipe", 0600), 0);
  io::EventReader of_pipe("pipe");
  EXPECT_ERROR((void)new_in(of_pipe), Error, "pipe is no regular file");
}

TEST(MessageReader, ReadsWhatMessageWrites) {
  const io::Message message =
      io::Message().integer(1, -5).real(2, 0.1).real32(3, 0.5F).bytes(4, "text").message(5, io::Message().integer(300, 7));
  io::MessageReader r(message.str());
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.field(), 1);
  EXPECT_EQ(r.integer(), -5);
  EXPECT_EQ(r.bytes(), "");
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.real(), 0.1);
  EXPECT_EQ(r.integer(), 0);
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.real(), 0.5);
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.bytes(), "text");
  ASSERT_TRUE(r.next());
  io::MessageReader inner(r.bytes());
  ASSERT_TRUE(inner.next());
  EXPECT_EQ(inner.field(), 300);
  EXPECT_EQ(inner.integer(), 7);
  EXPECT_FALSE(r.next());
}

TEST(MessageReader, RefusesWhatIsNone) {
  const auto read = [](const std::string& bytes) {
    for (io::MessageReader r(bytes); r.next();) {
    }
  };
  EXPECT_ERROR(read("\x0a\x05"
                    "abc"),
               Error, "ends within a field");
  EXPECT_ERROR(read("\x09"
                    "abc"),
               Error, "ends within a field");
  EXPECT_ERROR(read("\x0b"), Error, "unknown type 3");
  EXPECT_ERROR(read(std::string("\x08") + std::string(11, '\xff')), Error, "more than 64 bits");
}

}  // namespace
}  // namespace tandem
