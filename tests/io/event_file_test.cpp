// Records of event files: checksums by published values, and frames as another program would read them.
#include "io/event_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "support/files.h"
#include "support/on_device.h"

namespace io = tandem::io;

TEST(Crc32c, IsThatOfRfc3720) {
  // Appendix B.4.
  std::string up, down;
  for (int i = 0; i < 32; ++i) {
    up += static_cast<char>(i);
    down += static_cast<char>(31 - i);
  }
  EXPECT_EQ(io::crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(io::crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(io::crc32c(up), 0x46dd794eU);
  EXPECT_EQ(io::crc32c(down), 0x113fdb5cU);
  EXPECT_EQ(io::crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(io::crc32c(""), 0U);
}

TEST(EventFrame, IsLengthAndBytesEachWithItsChecksum) {
  // As tensorboard.summary.writer.record_writer.RecordWriter writes b"hello".
  const std::string frame = io::event_frame("hello");
  EXPECT_EQ(frame.size(), 8 + 4 + 5 + 4U);
  EXPECT_EQ(frame,
            std::string("\x05\0\0\0\0\0\0\0", 8) + std::string("\xea\xb2\x04\x3e", 4) + "hello" + std::string("\xbb\x1f\x1c\x19", 4));
}

TEST(EventFile, GrowsRecordByRecord) {
  std::filesystem::remove_all("events");
  io::EventFile file("test", "events/of/a run"), second("test", "events/of/a run");
  EXPECT_NE(file.path(), second.path());
  EXPECT_TRUE(std::regex_match(file.path(), std::regex(R"(events/of/a run/events\.out\.tfevents\.\d{10}\.[^/]+\.\d+\.\d+)")))
      << file.path();
  file.add("one");
  EXPECT_EQ(read_file(file.path()), io::event_frame("one"));  // at once
  file.add("");
  file.add(std::string(100'000, 'x'));
  EXPECT_EQ(read_file(file.path()), io::event_frame("one") + io::event_frame("") + io::event_frame(std::string(100'000, 'x')));
  file.flush();
  EXPECT_EQ(read_file(second.path()), "");
}

TEST(EventFile, NamesWhatItCannotMake) {
  std::ofstream("a file") << "x";
  EXPECT_NE(error_of([] { io::EventFile file("test", "a file/runs"); }).find("[test] cannot make the folder a file/runs: "),
            std::string::npos);
}
