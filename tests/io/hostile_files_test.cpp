// Files made to hurt their reader: each is refused with one clear error, and costs no more memory than a file of its size may.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>

#include "io/zip.h"
#include "support/files.h"
#include "support/on_device.h"
#include "support/touched_memory.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;

namespace {

constexpr size_t kMiB = 1 << 20;

template <class T>
void put(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string safetensors(const std::string& header) {
  std::string bytes;
  put<uint64_t>(bytes, header.size());
  return bytes + header;
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// The bare deflate stream.
std::string deflated(const std::string& bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A .npy file of uint8 zeros.
std::string npy_of_zeros(size_t count) {
  const std::string dictionary = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  std::string bytes("\x93NUMPY\1\0", 8);
  put<uint16_t>(bytes, static_cast<uint16_t>(dictionary.size()));
  return bytes + dictionary + std::string(count, '\0');
}

struct Entry {
  std::string name;
  size_t header;  // where its own header begins
  uint32_t crc;
  size_t compressed, size;
};

std::string local_header(const std::string& name) {
  std::string out;
  put<uint32_t>(out, 0x04034b50);
  out.append(22, '\0');
  put<uint16_t>(out, static_cast<uint16_t>(name.size()));
  put<uint16_t>(out, 0);
  return out + name;
}

/// An archive of these bytes, with a directory that may say of them what it likes.
std::string archive(std::string bytes, const std::vector<Entry>& entries) {
  const size_t begin = bytes.size();
  for (const Entry& entry : entries) {
    put<uint32_t>(bytes, 0x02014b50);
    bytes.append(6, '\0');
    put<uint16_t>(bytes, 8);  // deflated
    bytes.append(4, '\0');
    put<uint32_t>(bytes, entry.crc);
    put<uint32_t>(bytes, static_cast<uint32_t>(entry.compressed));
    put<uint32_t>(bytes, static_cast<uint32_t>(entry.size));
    put<uint16_t>(bytes, static_cast<uint16_t>(entry.name.size()));
    bytes.append(12, '\0');
    put<uint32_t>(bytes, static_cast<uint32_t>(entry.header));
    bytes += entry.name;
  }
  const size_t size = bytes.size() - begin;
  put<uint32_t>(bytes, 0x06054b50);
  put<uint32_t>(bytes, 0);
  put<uint16_t>(bytes, static_cast<uint16_t>(entries.size()));
  put<uint16_t>(bytes, static_cast<uint16_t>(entries.size()));
  put<uint32_t>(bytes, static_cast<uint32_t>(size));
  put<uint32_t>(bytes, static_cast<uint32_t>(begin));
  put<uint16_t>(bytes, 0);
  return bytes;
}

uint32_t crc_of(const std::string& bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

TEST(HostileSafetensors, AreNestedAsDeepAsTheyLike) {
  for (const size_t depth : {10U, 100'000U, 3'000'000U}) {
    const std::string lists = std::string(depth, '[') + std::string(depth, ']');
    const std::string objects = repeated("{\"a\":", depth) + "1" + std::string(depth, '}');
    for (const std::string& deep : {lists, objects}) {
      for (const std::string& header : {R"({"a":)" + deep + "}", R"({"a":{"dtype":)" + deep + R"(,"shape":[],"data_offsets":[0,0]}})",
                                        R"({"a":{"dtype":"F32","shape":)" + deep + R"(,"data_offsets":[0,0]}})",
                                        R"({"a":{"dtype":"F32","shape":[],"data_offsets":)" + deep + "}}",
                                        R"({"__metadata__":)" + deep + "}", R"({"__metadata__":{"a":)" + deep + "}}"}) {
        write_file("deep.safetensors", safetensors(header));
        const std::string error = error_of([] { (void)io::load_safetensors("deep.safetensors"); });
        EXPECT_EQ(error.rfind("[load_safetensors] deep.safetensors: ", 0), 0U) << error.substr(0, 200);
        EXPECT_LT(error.size(), 300U);
      }
    }
  }
}

TEST(HostileSafetensors, CostAboutTheirHeadersSize) {
  // A header that no tensor comes of.
  write_file("long.safetensors",
             safetensors(R"({"a":{"dtype":"F32","shape":[)" + repeated("1,", 4 * kMiB) + R"(1],"data_offsets":[0,0]}})"));
  EXPECT_LT(touched_by([] {
              EXPECT_NE(error_of([] { (void)io::load_safetensors("long.safetensors"); }).find("has 4194305 dimensions"), std::string::npos);
            }),
            40 * kMiB);
}

TEST(HostileArchives, MayNotUnpackTheSameBytesTwice) {
  const std::string plain = npy_of_zeros(4 * kMiB), packed = deflated(plain);
  const std::string bytes = local_header("0.npy") + packed;
  std::vector<Entry> entries;
  for (int i = 0; i < 100; ++i) entries.push_back({std::to_string(i % 10) + ".npy", 0, crc_of(plain), packed.size(), plain.size()});
  for (size_t i = 0; i < entries.size(); ++i) entries[i].name = std::to_string(i) + ".npy";
  write_file("twice.npz", archive(bytes, entries));
  EXPECT_LT(touched_by([] {
              EXPECT_NE(error_of([] { (void)io::load_npz("twice.npz"); }).find(".npy overlaps what comes after it"), std::string::npos);
            }),
            100 * kMiB);

  // The quoted kind: the packed bytes of one hold the next ones' headers. And one that reaches into the directory.
  const std::string inner = local_header("b.npy") + packed;
  write_file("inside.npz",
             archive(local_header("a.npy") + inner, {{"a.npy", 0, 0, inner.size(), 100},
                                                     {"b.npy", local_header("a.npy").size(), crc_of(plain), packed.size(), plain.size()}}));
  EXPECT_NE(error_of([] { (void)io::load_npz("inside.npz"); }).find("the entry a.npy overlaps what comes after it"), std::string::npos);
  write_file("directory.npz", archive(bytes, {{"0.npy", 0, crc_of(plain), packed.size() + 1, plain.size()}}));
  EXPECT_NE(error_of([] { (void)io::load_npz("directory.npz"); }).find("the entry 0.npy overlaps what comes after it"), std::string::npos);

  write_file("good.npz", archive(bytes, {{"0.npy", 0, crc_of(plain), packed.size(), plain.size()}}));
  EXPECT_EQ(io::load_npz("good.npz").at("0").numel(), static_cast<int64_t>(4 * kMiB));
}

TEST(HostileArchives, FillNoMemoryThatTheyOnlyPromise) {
  // An entry that says it unpacks to 900 MB, and breaks off soon.
  const size_t promised = 900 * kMiB;
  std::string plain = npy_of_zeros(promised).substr(0, 1000);
  std::string packed = deflated(plain);
  packed.resize(kMiB, '\xff');
  write_file("promise.npz", archive(local_header("0.npy") + packed, {{"0.npy", 0, 0, packed.size(), plain.size() - 1000 + promised}}));
  EXPECT_LT(touched_by([] {
              EXPECT_EQ(error_of([] { (void)io::load_npz("promise.npz"); }).rfind("[load_npz] promise.npz: the entry 0.npy", 0), 0U);
            }),
            200 * kMiB);
  // More than deflate can make of it is refused at once, and so is an entry that gives more than it says.
  write_file("ratio.npz", archive(local_header("0.npy") + packed, {{"0.npy", 0, 0, 1000, 1'032'001}}));
  EXPECT_NE(error_of([] { (void)io::load_npz("ratio.npz"); }).find("cannot unpack to the size it says"), std::string::npos);
  plain = npy_of_zeros(10);
  packed = deflated(plain + "more");
  write_file("more.npz", archive(local_header("0.npy") + packed, {{"0.npy", 0, crc_of(plain), packed.size(), plain.size()}}));
  EXPECT_NE(error_of([] { (void)io::load_npz("more.npz"); }).find("does not unpack to the"), std::string::npos);
}
