// Readers of IDX and CSV files: what they read, and what they say of a file that is wrong.
#include <gtest/gtest.h>

#include <cmath>

#include "data/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;
using namespace std::string_literals;

TEST(Idx, ReadsEveryType) {
  write_file("u8", idx_bytes(0x08, {2, 2}, "\x01\x02\xff\x04"s));
  EXPECT_TRUE(td::equal(read_idx("u8"), td::tensor({{1, 2}, {255, 4}}, td::kUInt8)));
  write_file("i8", idx_bytes(0x09, {2}, "\xff\x02"s));
  EXPECT_TRUE(td::equal(read_idx("i8"), td::tensor({-1, 2}, td::kInt8)));
  write_file("i16", idx_bytes(0x0b, {2}, "\x01\x02\xff\xfe"s));
  EXPECT_TRUE(td::equal(read_idx("i16"), td::tensor({258, -2}, td::kInt16)));
  write_file("i32", idx_bytes(0x0c, {1}, "\x01\x02\x03\x04"s));
  EXPECT_TRUE(td::equal(read_idx("i32"), td::tensor({0x01020304}, td::kInt32)));
  write_file("f32", idx_bytes(0x0d, {1}, "\x3f\xc0\x00\x00"s));
  EXPECT_TRUE(td::equal(read_idx("f32"), td::tensor({1.5})));
  write_gzip("f64.gz", idx_bytes(0x0e, {1}, "\xc0\x04\x00\x00\x00\x00\x00\x00"s));
  EXPECT_TRUE(td::equal(read_idx("f64.gz"), td::tensor({-2.5}, td::kFloat64)));
  write_file("none", idx_bytes(0x08, {0, 3}, ""));
  EXPECT_EQ(read_idx("none").sizes(), (td::Shape{0, 3}));
}

TEST(Idx, SaysWhatIsWrong) {
  const auto text = [](const std::string& bytes) {
    write_file("bad", bytes);
    return error_of([] { (void)read_idx("bad"); });
  };
  EXPECT_EQ(text("\0\0\x08"s), "[read_idx] bad: the file ends at byte 3, within its first four");
  EXPECT_EQ(text("text"), "[read_idx] bad: not an IDX file, but text");
  EXPECT_EQ(text(idx_bytes(0x0a, {1}, "x")), "[read_idx] bad: byte 2 is 10, which is no type of IDX: 8, 9, 11, 12, 13 or 14");
  EXPECT_EQ(text(idx_bytes(0x08, {2, 3}, "12345")),
            "[read_idx] bad: after byte 12 there are 5 bytes, but an array of uint8 with sizes [2, 3] has 6");
  EXPECT_NE(text(idx_bytes(0x0e, {0xffffffff, 0xffffffff, 0xffffffff}, "12345")).find("has more"), std::string::npos);
  EXPECT_NE(text(idx_bytes(0x08, std::vector<uint32_t>(40, 1), "1")).find("40 dimensions"), std::string::npos);
  EXPECT_NE(error_of([] { (void)read_idx("nowhere"); }).find("[read_idx] nowhere: cannot open the file"), std::string::npos);
}

TEST(Mnist, ReadsItsFourFiles) {
  write_gzip("train-images-idx3-ubyte.gz",
             idx_bytes(0x08, {3, 28, 28}, std::string(784, '\xff') + std::string(784, '\0') + std::string(784, '\x33')));
  write_file("train-labels-idx1-ubyte", idx_bytes(0x08, {3}, "\x07\x01\x09"s));
  const Mnist train(".");
  EXPECT_EQ(train.size(), 3);
  EXPECT_EQ(train[0].input().sizes(), (td::Shape{1, 28, 28}));
  EXPECT_EQ(train[0].input().mean().item<float>(), 1);
  EXPECT_FLOAT_EQ(train[2].input().mean().item<float>(), 0.2F);
  EXPECT_EQ(train[2].target().item<int64_t>(), 9);
  EXPECT_EQ(
      error_of([] { Mnist test(".", {.train = false}); }),
      "[Mnist] . has neither t10k-images-idx3-ubyte nor t10k-images-idx3-ubyte.gz: name the folder with the four files of the data set");
}

TEST(Csv, ReadsNumbersByColumn) {
  write_file("table.csv", "\xef\xbb\xbfid, \"the, \"\"price\"\"\",town\r\n1, 2.5 ,Ulm\r\n\r\n-2,+1e3,\"Bonn\"\r\n3,NA,Ulm");
  const CsvTable table = read_csv("table.csv", {.categories = {"town"}});
  EXPECT_EQ(table.names, (std::vector<std::string>{"id", "the, \"price\"", "town"}));
  EXPECT_EQ(table.values.sizes(), (td::Shape{3, 3}));
  EXPECT_EQ(table.values.dtype(), td::kFloat32);
  EXPECT_TRUE(td::equal(table.column("id"), td::tensor({1., -2., 3.})));
  EXPECT_TRUE(td::equal(table.column("town"), td::tensor({0., 1., 0.})));
  EXPECT_EQ(table.categories.at("town"), (std::vector<std::string>{"Ulm", "Bonn"}));
  const td::Tensor price = table.column("the, \"price\"");
  EXPECT_EQ(price[1].item<float>(), 1000);
  EXPECT_TRUE(std::isnan(price[2].item<float>()));

  const CsvTable some = read_csv("table.csv", {.columns = {"the, \"price\"", "id"}, .missing = -1.0, .dtype = td::kFloat64});
  EXPECT_TRUE(td::equal(some.values, td::tensor({{2.5, 1.}, {1000., -2.}, {-1., 3.}}, td::kFloat64)));

  write_gzip("plain.csv.gz", "1;2\n3;4\n");
  const CsvTable plain = read_csv("plain.csv.gz", {.header = false, .delimiter = ';', .dtype = td::kInt64});
  EXPECT_EQ(plain.names, (std::vector<std::string>{"0", "1"}));
  EXPECT_TRUE(td::equal(plain.values, td::tensor({{1, 2}, {3, 4}})));

  write_file("head.csv", "a,b\n");
  EXPECT_EQ(read_csv("head.csv").values.sizes(), (td::Shape{0, 2}));
}

TEST(Csv, KeepsEmptyFieldsBeforeQuotedOnes) {
  write_file("tabs.tsv", "a\tb\tc\n\t\"2\"\t3\n \t \"5\" \t\n");
  const CsvTable tabs = read_csv("tabs.tsv", {.delimiter = '\t', .missing = -1.0});
  EXPECT_TRUE(td::equal(tabs.values, td::tensor({{-1., 2., 3.}, {-1., 5., -1.}})));
  write_file("spaces.txt", "a b c\n \"2\" 3\n\t\"4\"\t \"5\" 6\n");
  const CsvTable spaces = read_csv("spaces.txt", {.delimiter = ' ', .missing = -1.0});
  EXPECT_TRUE(td::equal(spaces.values, td::tensor({{-1., 2., 3.}, {4., 5., 6.}})));
  for (const char delimiter : {'"', '\n', '\r'})
    EXPECT_EQ(error_of([&] { (void)read_csv("tabs.tsv", {.delimiter = delimiter}); }),
              "[read_csv] tabs.tsv: a delimiter can be no quote and no end of a line");
}

TEST(Csv, HasAsManyWordsAndColumnsAsItLikes) {
  // Looked up one after another, these would take many minutes.
  constexpr int kWords = 1'000'000, kColumns = 300'000;
  std::string words = "word\n", wide;
  for (int i = 0; i < kWords; ++i) words += "w" + std::to_string(i) + "\n";
  write_file("words.csv", words + words.substr(5));
  const CsvTable table = read_csv("words.csv", {.categories = {"word"}, .dtype = td::kInt64});
  EXPECT_TRUE(td::equal(table.values.reshape({2, kWords}), td::arange(kWords).expand({2, kWords})));
  EXPECT_EQ(table.categories.at("word").size(), size_t{kWords});
  EXPECT_EQ(table.categories.at("word").back(), "w999999");
  for (int line = 0; line < 2; ++line)
    for (int i = 0; i < kColumns; ++i) wide += (line == 0 ? "c" : "") + std::to_string(i) + (i + 1 < kColumns ? "," : "\n");
  write_file("wide.csv", wide);
  EXPECT_TRUE(td::equal(read_csv("wide.csv", {.dtype = td::kInt64}).values, td::arange(kColumns).reshape({1, kColumns})));
  write_file("commas.csv", std::string(1 << 20, ','));
  EXPECT_EQ(error_of([] { (void)read_csv("commas.csv"); }), "[read_csv] commas.csv: line 1 has more than 1048576 fields");
}

TEST(Csv, NamesLineAndColumn) {
  const auto text = [](const std::string& bytes, const CsvOptions& options = {}) {
    write_file("bad.csv", bytes);
    return error_of([&] { (void)read_csv("bad.csv", options); });
  };
  EXPECT_EQ(text("a,b\n1,2\n\n1,x\n"),
            "[read_csv] bad.csv: line 4, column 2 (b): 'x' is not a number: name a column of words in .categories");
  EXPECT_EQ(text("a,b\n1,2\n1\n"), "[read_csv] bad.csv: line 3 has 1 fields, but the first one has 2");
  EXPECT_EQ(text("a,b\n1,\n", {.missing = std::nullopt}), "[read_csv] bad.csv: line 2, column 2 (b): the value is missing");
  EXPECT_EQ(text("a,b\n\"1\n\n2\",3\n4,y\n"),
            "[read_csv] bad.csv: line 2, column 1 (a): '1??2' is not a number: name a column of words in .categories");
  EXPECT_EQ(text("a,b\n1,\"2"), "[read_csv] bad.csv: line 2, column 2: a quote is never closed");
  EXPECT_EQ(text("a,b\n\"1\"2,3"), "[read_csv] bad.csv: line 2, column 1: there is text after the closing quote");
  EXPECT_EQ(text(""), "[read_csv] bad.csv: the file has no lines");
  EXPECT_EQ(text("a,b\n1,2\n", {.columns = {"c"}}), "[read_csv] bad.csv: there is no column 'c'; there is a, b");
  write_file("good.csv", "a\n1\n");
  EXPECT_EQ(error_of([] { (void)read_csv("good.csv").column("z"); }), "[CsvTable.column] there is no column 'z'; there is a");
}

// Whatever bytes a file has, it is read or an error says why: never a crash, never memory without end.
TEST(Readers, SurviveDamagedFiles) {
  write_gzip("good.gz", idx_bytes(0x08, {2, 3}, "123456"));
  const td::Tensor picture = (td::arange(3 * 16 * 20) % 256).reshape({3, 16, 20}).to(td::kUInt8);
  write_png(picture, "good.png");
  write_jpeg(picture, "good.jpg");
  const std::vector<std::pair<std::string, std::function<void(const std::string&)>>> kinds = {
      {idx_bytes(0x0c, {2, 3}, std::string(24, 'x')), [](const std::string& path) { (void)read_idx(path); }},
      {read_file("good.gz"), [](const std::string& path) { (void)read_idx(path); }},
      {"a,b,\"c\"\n1,2,3\n\"4\",5.5e3,NA\n", [](const std::string& path) { (void)read_csv(path); }},
      {read_file("good.png"), [](const std::string& path) { (void)read_image(path); }},
      {read_file("good.jpg"), [](const std::string& path) { (void)read_image(path, ImageMode::RGB); }},
  };
  Generator generator(1);
  for (const auto& [bytes, read] : kinds) {
    int errors = 0, cut = 0;
    const auto fails = [&](const std::string& damaged) {
      write_file("damaged", damaged);
      const std::string text = error_of([&] { read("damaged"); });
      if (text == "no error") return false;
      EXPECT_NE(text.find("damaged"), std::string::npos) << text;
      return true;
    };
    for (int i = 0; i < 40; ++i, ++cut) errors += fails(bytes.substr(0, generator.below(bytes.size())));
    EXPECT_GT(errors, cut / 4) << bytes.substr(0, 4);
    for (int i = 0; i < 300; ++i) {
      std::string damaged = bytes;
      for (uint64_t flips = 1 + generator.below(3); flips > 0; --flips)
        damaged[generator.below(bytes.size())] ^= static_cast<char>(1U << generator.below(8));
      (void)fails(damaged);
    }
  }
}
