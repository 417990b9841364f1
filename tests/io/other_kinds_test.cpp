// Files of other programs: what is no tensor stands beside tensors, archives are wide, and what is another kind of file is called by its
// name.
#include <gtest/gtest.h>
#include <zlib.h>

#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;
using namespace std::string_literals;

namespace {

template <class T>
void put(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string bytes;
  put<uint64_t>(bytes, header.size());
  return bytes + header + data;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& elements) {
  const std::string dictionary = "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }";
  std::string bytes("\x93NUMPY\1\0", 8);
  put<uint16_t>(bytes, static_cast<uint16_t>(dictionary.size()));
  return bytes + dictionary + elements;
}

std::string floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) put(bytes, value);
  return bytes;
}

/// An archive of stored entries; with `wide`, all its numbers are where zip64 has them.
std::string archive(const std::vector<std::pair<std::string, std::string>>& entries, bool wide = false) {
  std::string bytes, directory;
  for (const auto& [name, content] : entries) {
    const auto crc = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    const auto size = wide ? 0xffffffffU : static_cast<uint32_t>(content.size()),
               place = wide ? 0xffffffffU : static_cast<uint32_t>(bytes.size());
    std::string extra;
    if (wide) {
      put<uint16_t>(extra, 0x5455);  // a time, which is passed over
      put<uint16_t>(extra, 1);
      extra += '\0';
      put<uint16_t>(extra, 1);
      put<uint16_t>(extra, 24);
      put<uint64_t>(extra, content.size());
      put<uint64_t>(extra, content.size());
      put<uint64_t>(extra, bytes.size());
    }
    put<uint32_t>(directory, 0x02014b50);
    directory.append(12, '\0');  // versions, flags, stored, time
    put<uint32_t>(directory, crc);
    put<uint32_t>(directory, size);
    put<uint32_t>(directory, size);
    put<uint16_t>(directory, static_cast<uint16_t>(name.size()));
    put<uint16_t>(directory, static_cast<uint16_t>(extra.size()));
    directory.append(10, '\0');
    put<uint32_t>(directory, place);
    directory += name + extra;
    put<uint32_t>(bytes, 0x04034b50);
    bytes.append(22, '\0');
    put<uint16_t>(bytes, static_cast<uint16_t>(name.size()));
    put<uint16_t>(bytes, 0);
    bytes += name + content;
  }
  const size_t begin = bytes.size();
  bytes += directory;
  if (wide) {
    const size_t record = bytes.size();
    put<uint32_t>(bytes, 0x06064b50);
    put<uint64_t>(bytes, 44);
    bytes.append(12, '\0');
    put<uint64_t>(bytes, entries.size());
    put<uint64_t>(bytes, entries.size());
    put<uint64_t>(bytes, directory.size());
    put<uint64_t>(bytes, begin);
    put<uint32_t>(bytes, 0x07064b50);
    put<uint32_t>(bytes, 0);
    put<uint64_t>(bytes, record);
    put<uint32_t>(bytes, 1);
  }
  put<uint32_t>(bytes, 0x06054b50);
  put<uint32_t>(bytes, 0);
  for (int i = 0; i < 2; ++i) put<uint16_t>(bytes, wide ? uint16_t{0xffff} : static_cast<uint16_t>(entries.size()));
  put<uint32_t>(bytes, wide ? 0xffffffffU : static_cast<uint32_t>(directory.size()));
  put<uint32_t>(bytes, wide ? 0xffffffffU : static_cast<uint32_t>(begin));
  put<uint16_t>(bytes, 0);
  return bytes;
}

/// What the library warns of while `f` runs.
template <class F>
std::vector<std::string> warnings_of(F&& f) {
  std::vector<std::string> warnings;
  const auto before = td::set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  f();
  td::set_warning_handler(before);
  return warnings;
}

}  // namespace

TEST(OtherElements, AreNamedInNpyFiles) {
  const auto text = [](const std::string& type, const std::string& elements) {
    write_file("other.npy", npy(type, "(1,)", elements));
    return error_of([] { (void)io::load_npy("other.npy"); });
  };
  EXPECT_EQ(text("[('x', '<f4'), ('y', '<i4')]", "12345678"),
            "[load_npy] other.npy: the elements are records of several fields, [('x', '<f4'), ('y', '<i4')], and no numbers: save each "
            "field as an "
            "array, as in numpy.savez(path, a=x['a'])");
  EXPECT_NE(
      text("[('a]', '<f4', (2,)), (('t', 'b'), [('c', '|u1')])]", "123456789").find("records of several fields, [('a]', '<f4', (2,)), (("),
      std::string::npos);
  EXPECT_NE(text("'|O'", "x").find("pickled Python objects (type '|O')"), std::string::npos);
  EXPECT_NE(text("'<U2'", "12345678").find("the elements are text (type '<U2'), and no numbers"), std::string::npos);
  EXPECT_NE(text("'|S2'", "12").find("the elements are text (type '|S2')"), std::string::npos);
  EXPECT_NE(text("'<M8[ns]'", "12345678").find("dates or times (type '<M8[ns]')"), std::string::npos);
  EXPECT_NE(text("'<c8'", "12345678").find("complex (type '<c8')"), std::string::npos);
  EXPECT_NE(text("'<u2'", "12").find("of the type '<u2'"), std::string::npos);
  EXPECT_NE(text("[('x', '<f4'", "1234").find("not the dictionary"), std::string::npos);
}

TEST(NpyFiles, MayHaveTheHighByteFirst) {
  write_file("big.npy", npy("'>i2'", "(3,)", "\x01\x02\xff\xfe\0\x07"s));
  EXPECT_TRUE(td::equal(io::load_npy("big.npy"), td::tensor({258, -2, 7}, td::kInt16)));
  write_file("big.npy", npy("'>f8'", "(1, 1)", "\xc0\x04\0\0\0\0\0\0"s));
  EXPECT_TRUE(td::equal(io::load_npy("big.npy"), td::tensor({{-2.5}}, td::kFloat64)));
}

TEST(Archives, GiveTheirNumbersBesideOtherElements) {
  const std::string numbers = npy("'<f4'", "(2,)", floats({1, 2}));
  write_file("mixed.npz", archive({{"words.npy", npy("'<U1'", "(2,)", "a\0\0\0b\0\0\0"s)},
                                   {"x.npy", numbers},
                                   {"objects.npy", npy("'|O'", "(2,)", "\x80\4]q\0."s)},
                                   {"records.npy", npy("[('x', '<f4')]", "(1,)", "1234")},
                                   {"notes.txt", "hello"}}));
  const auto warnings = warnings_of([] {
    const auto tensors = io::load_npz("mixed.npz");
    ASSERT_EQ(tensors.size(), 1U);
    EXPECT_TRUE(td::equal(tensors.at("x"), td::tensor({1., 2.})));
  });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(
      warnings[0].rfind("[load_npz] mixed.npz: left out what is no array of numbers: the entry words.npy: the elements are text (type "
                        "'<U1'), and no numbers",
                        0),
      0U)
      << warnings[0];
  EXPECT_NE(warnings[0].find("; and 1 more"), std::string::npos) << warnings[0];

  // By name: no warning, and an error where what is named is no array of numbers.
  EXPECT_TRUE(warnings_of([] { EXPECT_EQ(io::load_npz("mixed.npz", td::cpu(), {"x"}).size(), 1U); }).empty());
  EXPECT_EQ(error_of([] {
              (void)io::load_npz("mixed.npz", td::cpu(), {"x", "objects"});
            }).rfind("[load_npz] mixed.npz: the entry objects.npy: the elements are pickled Python objects", 0),
            0U);
  EXPECT_EQ(error_of([] { (void)io::load_npz("mixed.npz", td::cpu(), {"y"}); }),
            "[load_npz] mixed.npz: there is no array 'y'; there is 'notes.txt', 'objects', 'records', 'words', 'x'");

  // A warning is one line, whatever the names are.
  write_file("names.npz", archive({{"x.npy", numbers}, {"two\nlines" + std::string(500, 'z'), "hello"}}));
  const auto lines = warnings_of([] { (void)io::load_npz("names.npz"); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("the entry two?lineszzz"), std::string::npos) << lines[0];
  EXPECT_LT(lines[0].size(), 300U);

  // Nothing but others.
  write_file("words.npz", archive({{"words.npy", npy("'<U1'", "(1,)", "a\0\0\0"s)}}));
  EXPECT_EQ(error_of([] { (void)io::load_npz("words.npz"); }).rfind("[load_npz] words.npz: the entry words.npy: the elements are text", 0),
            0U);
  // What is left out is looked through, too.
  std::string damaged = read_file("mixed.npz");
  damaged[damaged.find("a\0\0\0b"s)] = 'c';
  write_file("damaged.npz", damaged);
  EXPECT_EQ(error_of([] { (void)io::load_npz("damaged.npz"); }),
            "[load_npz] damaged.npz: the entry words.npy: damaged: its checksum does not fit");
}

TEST(Archives, MayBeWide) {
  const std::string x = npy("'<f4'", "(2,)", floats({1, 2})), y = npy("'|u1'", "(3,)", "\1\2\3");
  const std::string bytes = archive({{"x.npy", x}, {"y.npy", y}}, true);
  write_file("wide.npz", bytes);
  const auto tensors = io::load_npz("wide.npz");
  EXPECT_TRUE(td::equal(tensors.at("x"), td::tensor({1., 2.})));
  EXPECT_TRUE(td::equal(tensors.at("y"), td::tensor({1, 2, 3}, td::kUInt8)));

  // Each byte of its directories, changed: read or refused, whatever the numbers become.
  int refused = 0;
  for (size_t at = bytes.find("PK\1\2"); at < bytes.size(); ++at)
    for (const int change : {0xff, 0x01, 0x80}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      write_file("changed.npz", changed);
      const std::string error = error_of([] { (void)io::load_npz("changed.npz"); });
      EXPECT_TRUE(error == "no error" || error.rfind("[load_npz] changed.npz: ", 0) == 0) << error;
      refused += error != "no error";
    }
  EXPECT_GT(refused, 300);
  // Numbers that are said to stand elsewhere, and do not.
  std::string lacks = bytes;
  lacks.replace(lacks.find("\1\0\x18\0"s), 2, "\2\0"s);
  write_file("lacks.npz", lacks);
  EXPECT_EQ(error_of([] { (void)io::load_npz("lacks.npz"); }), "[load_npz] lacks.npz: the entry x.npy lacks its sizes");
}

TEST(Safetensors, OfOtherDTypesGiveTheRestByName) {
  write_file(
      "f8.safetensors",
      safetensors(R"({"q":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},"s":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                  R"("n":{"dtype":"F99","shape":[3],"data_offsets":[8,9]},"__metadata__":{"a":"b"}})",
                  "1234" + floats({0.5F}) + "x"));
  const auto some = io::read_safetensors("f8.safetensors", td::cpu(), {"s"});
  ASSERT_EQ(some.tensors.size(), 1U);
  EXPECT_TRUE(td::equal(some.tensors.at("s"), td::tensor({0.5})));
  EXPECT_EQ(some.metadata.at("a"), "b");
  EXPECT_EQ(
      error_of([] { (void)io::load_safetensors("f8.safetensors"); }),
      "[load_safetensors] f8.safetensors: tensor 'q' in the header has the dtype 'F8_E4M3', which is none of BOOL U8 I8 I16 I32 I64 F16 "
      "BF16 F32 F64: convert it in Python, or give load_safetensors the names of others: 's'");
  EXPECT_NE(error_of([] {
              (void)io::load_safetensors("f8.safetensors", td::cpu(), {"s", "n"});
            }).find("tensor 'n' in the header has the dtype 'F99'"),
            std::string::npos);
  EXPECT_EQ(error_of([] {
              (void)io::load_safetensors("f8.safetensors", td::cpu(), {"s", "t"});
            }),
            "[load_safetensors] f8.safetensors: there is no tensor 't'; there is 'q', 's', 'n'");
  // Offsets are checked all the same.
  write_file("f8.safetensors", safetensors(R"({"q":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,9]}})", "1234"));
  EXPECT_NE(error_of([] { (void)io::load_safetensors("f8.safetensors", td::cpu(), {"q"}); }).find("ends at byte 9"), std::string::npos);
}

TEST(OtherKinds, AreCalledByTheirNames) {
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"\x08\x07\x12\x07pytorch\x1a\x05"s + "2.0.0", "an ONNX model (.onnx): load it as a module with onnx::load"},
      {"\x1c\0\0\0TFL3\x14\0\x20\0"s, "a TensorFlow Lite model (.tflite): export"},
      {"PK\3\4"s + std::string(26, '\0') + "archive/data.pklFB", "a PyTorch file (.pt, .pth): read it with load_torch"},
      {"\x80\2\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s, "a PyTorch file (.pt, .pth)"},
      {"\x80\4\x95\0\0"s, "a pickle of Python's: write its arrays"},
      {"PK\3\4"s + std::string(26, '\0') + "[Content_Types].xml", "a document of Microsoft Office's"},
      {"PK\3\4"s + std::string(26, '\0') + "readme.md", "a zip archive: unpack it"},
      {"\x89HDF\r\n\x1a\n\0\0"s, "an HDF5 file (.h5, .hdf5, .keras): write its arrays"},
      {"GGUF\3\0\0\0"s, "a GGUF model (.gguf): read it with load_gguf"},
      {"\x1f\x8b\x08\0\0\0\0\0\0\3"s, "a file packed with gzip: unpack it"},
      {"BZh91AY&SY\0\1"s, "a file packed with bzip2"},
      {"\xfd\x37zXZ\0\0"s, "a file packed with xz"},
      {tar, "a tar archive"},
      {"GIF89a\x01\0\x01\0"s, "a GIF picture: convert it to PNG"},
      {"RIFF\1\0\0\0WEBPVP8 "s, "a WebP picture"},
      {"PAR1\x15\0\x15"s, "a Parquet table"},
      {"%PDF-1.4\n", "a PDF document"},
      {"\177ELF\2\1\1\0"s, "a program or a library (ELF)"},
      {"\xff\xfe<\0h\0t\0"s, "text in UTF-16"},
      {"\n<!DOCTYPE html>\n<html lang=\"en\">", "a web page (HTML), such as a server's error or login page: fetch the file itself"},
      {"<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>", "an SVG drawing"},
      {"<?xml version=\"1.0\"?><a/>", "text in XML"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a pointer of Git LFS's to the file: fetch"},
      {"{\"metadata\": {}, \"weight_map\": {\"a\": \"model-1.safetensors\"}}",
       "the index of several safetensors files: read them with load_safetensors_shards"},
      {"{\"a\": 1}", "text (JSON, as it seems)"},
      {"any words at all", "text"},
      {"", "an empty file"},
  };
  for (const auto& [bytes, kind] : kinds) {
    write_file("other", bytes);
    td::nn::Linear net(2, 2);
    EXPECT_EQ(
        error_of([] { (void)io::load_safetensors("other"); }).rfind("[load_safetensors] other: not a safetensors file, but " + kind, 0), 0U)
        << kind << error_of([] { (void)io::load_safetensors("other"); });
    // What load takes as one of its formats is refused by that format's reader.
    const bool is_taken =
        bytes.starts_with("PK") || bytes.starts_with("GGUF") || kind.starts_with("a PyTorch") || kind.starts_with("the index");
    const std::string error = error_of([&] { td::load("other", net); });
    EXPECT_TRUE(is_taken ? error != "no error" : error.find("other: not a safetensors file, but " + kind) != std::string::npos)
        << kind << error;
    EXPECT_EQ(error_of([] { (void)io::load_npy("other"); }).rfind("[load_npy] other: not a .npy file, but " + kind, 0), 0U) << kind;
    EXPECT_EQ(error_of([] { (void)td::data::read_image("other"); }).rfind("[read_image] other: not a PNG or JPEG picture, but " + kind, 0),
              0U)
        << kind;
    if (!bytes.starts_with("PK")) {
      EXPECT_EQ(error_of([] { (void)io::load_npz("other"); }).rfind("[load_npz] other: not a .npz archive, but " + kind, 0), 0U) << kind;
    }
  }
  // Those that we read, given to another reader.
  io::save_safetensors("a.safetensors", {{"a", td::ones({3})}});
  io::save_npy("a.npy", td::ones({3}));
  io::save_npz("a.npz", {{"a", td::ones({3})}});
  td::data::write_png(td::zeros({1, 2, 2}, td::kUInt8), "a.png");
  EXPECT_EQ(error_of([] { (void)io::load_npy("a.safetensors"); }),
            "[load_npy] a.safetensors: not a .npy file, but a safetensors file: read it with load_safetensors");
  EXPECT_EQ(error_of([] { (void)io::load_npz("a.npy"); }), "[load_npz] a.npy: not a .npz archive, but a .npy file: read it with load_npy");
  EXPECT_EQ(error_of([] { (void)io::load_safetensors("a.npz"); }),
            "[load_safetensors] a.npz: not a safetensors file, but an archive of NumPy's (.npz): read it with load_npz");
  EXPECT_EQ(error_of([] { (void)io::load_npy("a.png"); }),
            "[load_npy] a.png: not a .npy file, but a PNG picture: read it with data::read_image");
  // An archive without arrays.
  write_file("a.pt", archive({{"archive/data.pkl", "\x80\2}q\0."s}, {"archive/version", "3\n"}}));
  EXPECT_EQ(error_of([] { (void)io::load_npz("a.pt"); }).rfind("[load_npz] a.pt: not a .npz archive, but a PyTorch file", 0), 0U);
  EXPECT_EQ(error_of([] { (void)td::data::read_idx("a.png"); }),
            "[read_idx] a.png: not an IDX file, but a PNG picture: read it with data::read_image");
  write_file("program.pt2", "PK\3\4"s + std::string(26, '\0') + "program/archive_format");
  EXPECT_NE(error_of([] {
              (void)io::load_safetensors("program.pt2");
            }).find("but an exported PyTorch program (.pt2): load it as a module with exported::load"),
            std::string::npos);
}
