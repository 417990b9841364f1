// Tables as other programs write them: line ends, names, comments, blanks, numbers, missing values.
#include <gtest/gtest.h>

#include <cmath>

#include "data/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;
using namespace std::string_literals;

namespace {

CsvTable table_of(const std::string& text, const CsvOptions& options = {.dtype = td::kFloat64}) {
  write_file("table.csv", text);
  return read_csv("table.csv", options);
}

std::string error_in(const std::string& text, const CsvOptions& options = {}) {
  return error_of([&] { (void)table_of(text, options); });
}

td::Tensor numbers(const std::vector<double>& values, int64_t width) { return td::tensor(values, td::kFloat64).reshape({-1, width}); }

using Names = std::vector<std::string>;

}  // namespace

TEST(CsvLines, EndInAnyWay) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const CsvTable table = table_of("a,b" + end + "1,2" + end + end + "3,\"4\"" + end + "5, 6 " + end);
    EXPECT_EQ(table.names, (Names{"a", "b"}));
    EXPECT_TRUE(td::equal(table.values, numbers({1, 2, 3, 4, 5, 6}, 2))) << td::to_string(table.values);
    EXPECT_TRUE(td::equal(table_of("a,b" + end + "1,2").values, numbers({1, 2}, 2)));
    EXPECT_EQ(error_in("a,b" + end + "1,2" + end + end + "1,x" + end),
              "[read_csv] table.csv: line 4, column 2 (b): 'x' is not a number: name a column of words in .categories");
    // Inside quotes they belong to the field, and count.
    EXPECT_EQ(error_in("a,b" + end + "1,\"2" + end + "\"" + end + "1,x" + end, {.categories = {"b"}}), "no error");
    EXPECT_EQ(error_in("a,b" + end + "1,\"" + end + end + "2\"" + end + "x,2" + end, {.categories = {"b"}}),
              "[read_csv] table.csv: line 5, column 1 (a): 'x' is not a number: name a column of words in .categories");
  }
  EXPECT_TRUE(td::equal(table_of("a\r1\n2\r\n3").values, numbers({1, 2, 3}, 1)));
}

TEST(CsvNames, AreEachThereOnce) {
  const CsvTable table = table_of("price,price,town,price\n1,2,3,4\n");
  EXPECT_EQ(table.names, (Names{"price", "price.1", "town", "price.2"}));
  EXPECT_EQ(table.column("price.1").item<double>(), 2);
  EXPECT_EQ(table.column("price.2").item<double>(), 4);
  EXPECT_TRUE(td::equal(table_of("a,a\n1,2\n", {.columns = {"a.1"}, .dtype = td::kFloat64}).values, numbers({2}, 1)));
  // As pandas: names that are there already are stepped over, and what has no name is numbered.
  EXPECT_EQ(table_of("x,x,x.1\n1,2,3\n").names, (Names{"x", "x.2", "x.1"}));
  EXPECT_EQ(table_of("x.1,x,x,x\n1,2,3,4\n").names, (Names{"x.1", "x", "x.2", "x.3"}));
  EXPECT_EQ(table_of("\"\",a,,a\n1,2,3,4\n").names, (Names{"Unnamed: 0", "a", "Unnamed: 2", "a.1"}));
  EXPECT_EQ(table_of(",Unnamed: 0\n1,2\n").names, (Names{"Unnamed: 0.1", "Unnamed: 0"}));
  // Hundreds of thousands of one name are as quick as others.
  constexpr int kColumns = 300'000;
  std::string wide;
  for (int line = 0; line < 2; ++line)
    for (int i = 0; i < kColumns; ++i) wide += i + 1 < kColumns ? "1," : "1\n";
  EXPECT_EQ(table_of(wide).names.back(), "1." + std::to_string(kColumns - 1));
}

TEST(CsvOptions, LeaveLinesAndCommentsOut) {
  EXPECT_TRUE(
      td::equal(table_of("made by \"us\ntoday\n\na,b\n1,2\n", {.skip_lines = 3, .dtype = td::kFloat64}).values, numbers({1, 2}, 2)));
  EXPECT_EQ(error_in("one\ntwo\n", {.skip_lines = 2}), "[read_csv] table.csv: the file has no lines");
  EXPECT_EQ(error_in("one\na\nx\n", {.skip_lines = 1}),
            "[read_csv] table.csv: line 3, column 1 (a): 'x' is not a number: name a column of words in .categories");
  const CsvTable table = table_of("# by us, today\na,b # names\n1,2#two\n  # nothing\n3,\"4#\" # four\n#\n5,6",
                                  {.comment = '#', .categories = {"b"}, .dtype = td::kFloat64});
  EXPECT_EQ(table.names, (Names{"a", "b"}));
  EXPECT_TRUE(td::equal(table.column("a"), td::tensor({1., 3., 5.}, td::kFloat64)));
  EXPECT_EQ(table.categories.at("b"), (Names{"2", "4#", "6"}));
  EXPECT_EQ(error_in("a,b\n1#,2\n", {.comment = '#'}), "[read_csv] table.csv: line 2 has 1 fields, but the first one has 2");
  EXPECT_EQ(error_in("a\n", {.comment = ','}), "[read_csv] table.csv: a comment cannot begin with what parts the columns");
  EXPECT_EQ(error_in("a\n", {.whitespace = true, .comment = ' '}),
            "[read_csv] table.csv: a comment cannot begin with what parts the columns");
  EXPECT_EQ(error_in("a\n", {.comment = '"'}), "[read_csv] table.csv: a comment can begin with no quote and no end of a line");
  EXPECT_EQ(error_in("a\n", {.skip_lines = -1}), "[read_csv] table.csv: skip_lines must be 0 or more, but is -1");
}

TEST(CsvOptions, PartColumnsByBlanks) {
  const CsvOptions blanks = {.whitespace = true, .comment = '%', .dtype = td::kFloat64};
  const CsvTable table = table_of("  a \t b   \"the c\"\n 1   2\t3  \r\n\n\t4 5 \"6\"%x\n7 NA 9", blanks);
  EXPECT_EQ(table.names, (Names{"a", "b", "the c"}));
  ASSERT_EQ(table.values.sizes(), (td::Shape{3, 3}));
  EXPECT_TRUE(td::equal(table.values.narrow(0, 0, 2), numbers({1, 2, 3, 4, 5, 6}, 3)));
  EXPECT_TRUE(std::isnan(table.values[2][1].item<double>()));
  EXPECT_EQ(error_in("a b\n1\n", blanks), "[read_csv] table.csv: line 2 has 1 fields, but the first one has 2");
  EXPECT_EQ(error_in("a b\n\"1\"2 3\n", blanks), "[read_csv] table.csv: line 2, column 1: there is text after the closing quote");
}

TEST(CsvFields, ThatAreMissingAreThoseOfPandas) {
  std::string text = "a\n";
  const Names words = {"NA",   "N/A", "NaN",      "nan",  "null", "NULL",   "?",       "None",    "n/a",      "<NA>",
                       "#N/A", "#NA", "#N/A N/A", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "\"\""};
  for (const std::string& word : words) text += word + "\n";
  const td::Tensor values = table_of(text).values;
  EXPECT_EQ(values.size(0), static_cast<int64_t>(words.size()));
  EXPECT_TRUE(values.isnan().all().item<bool>());
}

TEST(CsvNumbers, AreAsLargeAsTheyAre) {
  const td::Tensor values = table_of("a\n1e400\n-1e400\n1e-400\n5e-324\n+inf\n-Infinity\n1.7976931348623157e308\n.5\n5.\n").values;
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(td::equal(values, numbers({infinity, -infinity, 0, 5e-324, infinity, -infinity, 1.7976931348623157e308, 0.5, 5}, 1)))
      << td::to_string(values);
  for (const char* word : {"+-5", "--5", "1_000", "0x10", "1e", "1 2", "five"})
    EXPECT_NE(error_in("a\n"s + word + "\n").find("' is not a number"), std::string::npos) << word;
}

TEST(CsvNumbers, ThatAreWholeComeExactly) {
  // Beyond 2^53 float64 has not every number.
  const CsvTable table = table_of("id\n9007199254740993\n-9223372036854775808\n+9223372036854775807\n1e3\n2.0\n", {.dtype = td::kInt64});
  EXPECT_TRUE(
      td::equal(table.values.reshape({5}), td::tensor({int64_t{9007199254740993}, INT64_MIN, INT64_MAX, int64_t{1000}, int64_t{2}})));
  EXPECT_EQ(error_in("a\n1\n2.5\n", {.dtype = td::kInt64}),
            "[read_csv] table.csv: line 3, column 1 (a): '2.5' is no number that int64 has: choose another .dtype");
  EXPECT_NE(error_in("a\n9223372036854775808\n", {.dtype = td::kInt64}).find("is no number that int64 has"), std::string::npos);
  EXPECT_NE(error_in("a\n256\n", {.dtype = td::kUInt8}).find("'256' is no number that uint8 has"), std::string::npos);
  EXPECT_NE(error_in("a\n-1\n", {.dtype = td::kUInt8}).find("is no number that uint8 has"), std::string::npos);
  EXPECT_NE(error_in("a\ninf\n", {.dtype = td::kInt32}).find("is no number that int32 has"), std::string::npos);
  EXPECT_EQ(error_in("a\n1\nNA\n", {.dtype = td::kInt64}),
            "[read_csv] table.csv: line 3, column 1 (a): the value is missing, and int64 has no nan: say in .missing what stands for it");
  EXPECT_TRUE(td::equal(table_of("a\n1\nNA\n", {.missing = -1.0, .dtype = td::kInt16}).values, td::tensor({{1}, {-1}}, td::kInt16)));
  EXPECT_EQ(error_in("a\n1\n", {.missing = 0.5, .dtype = td::kInt64}),
            "[read_csv] table.csv: what stands for a missing value must be a number that int64 has, but is 0.5");
}

TEST(CsvFiles, AreTextAndNoPages) {
  EXPECT_EQ(error_in("<html><body>404</body></html>\n").rfind("[read_csv] table.csv: not a table of text, but a web page (HTML)", 0), 0U);
  EXPECT_EQ(error_in("\xff\xfe\x61\0,\0b\0\n\0"s), "[read_csv] table.csv: not a table of text, but text in UTF-16: write it anew in UTF-8");
  EXPECT_EQ(error_in("PK\3\4"s + std::string(26, '\0') + "[Content_Types].xml"),
            "[read_csv] table.csv: not a table of text, but a document of Microsoft Office's: write its tables as CSV");
  EXPECT_EQ(error_in("a,b\n1,\0\n"s), "[read_csv] table.csv: not a table of text: byte 6 is 0");
  EXPECT_EQ(table_of("PAR1,BMI\n1,2\n").names, (Names{"PAR1", "BMI"}));
}
