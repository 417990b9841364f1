// Archives that are written: with numbers that fit into narrow fields, and as if they did not (zip64).
#include "io/zip.h"

#include <gtest/gtest.h>

#include "io/file.h"
#include "support/files.h"

namespace {

namespace io = tandem::io;

void write(const std::string& path, uint64_t wide_from) {
  io::AtomicFile file("test", path);
  io::ZipWriter zip(file, "test", path, wide_from);
  zip.add("first", "head ", "and data");
  zip.add("nothing", "", "");
  zip.add("last", "", std::string(100, 'x'));
  zip.finish();
  file.commit();
}

std::string content_of(const io::InputFile& file, const io::ZipEntry& entry) {
  std::string bytes(entry.size, '\0');
  io::ZipEntryReader reader(file, entry);
  reader.read(bytes.data(), bytes.size());
  reader.finish();
  return bytes;
}

TEST(Zip, ComesBackWhateverDoesNotFitIntoNarrowFields) {
  write("narrow.zip", io::ZipWriter::kMostNarrow + 1);
  const std::string narrow = read_file("narrow.zip");
  EXPECT_EQ(narrow.find("PK\6\6"), std::string::npos);
  // All numbers, those from 50 on - the last entry's size and place -, and the directory's place alone.
  for (const uint64_t wide_from : {uint64_t{0}, uint64_t{50}, uint64_t{150}}) {
    write("wide.zip", wide_from);
    EXPECT_GT(read_file("wide.zip").size(), narrow.size());
    EXPECT_NE(read_file("wide.zip").find("PK\6\6"), std::string::npos);
    const io::InputFile file("test", "wide.zip");
    const auto entries = io::read_zip_directory(file);
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_EQ(entries[0].name, "first");
    EXPECT_EQ(content_of(file, entries[0]), "head and data");
    EXPECT_EQ(content_of(file, entries[1]), "");
    EXPECT_EQ(content_of(file, entries[2]), std::string(100, 'x'));
  }
}

}  // namespace
