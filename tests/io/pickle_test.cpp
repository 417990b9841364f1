// Python's pickle format, byte by byte. What Python makes of it: tests/observe/snapshot.py.
#include "io/pickle.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using tandem::io::PickleWriter;
using std::string_literals::operator""s;

TEST(Pickle, WritesEachKindOfValue) {
  PickleWriter out;
  out.begin_dict();
  out.text("n");
  out.begin_list();
  out.number(int64_t{-1});
  out.number(int64_t{1} << 40);
  out.number(UINT64_MAX);
  out.boolean(true);
  out.pair(0, 1);
  out.text("n");
  out.end_list();
  out.end_dict();
  EXPECT_EQ(out.finish(),
            "\x80\x02}(X\x01\0\0\0nr\0\0\0\0](J\xff\xff\xff\xff\x8a\x08\0\0\0\0\0\x01\0\0"
            "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0\x88J\0\0\0\0J\x01\0\0\0\x86j\0\0\0\0eu."s);
}

TEST(Pickle, TextsAreUtf8) {
  const auto written = [](const std::string& text) {
    PickleWriter out;
    out.text(text);
    const std::string bytes = out.finish();
    return bytes.substr(7, bytes.size() - 7 - 6);
  };
  for (const std::string good : {"", "a/b.cpp", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(written(good), good);
  EXPECT_EQ(written("\xff"), "?");
  EXPECT_EQ(written("a\xc3"), "a?");
  EXPECT_EQ(written("\xc0\x80"), "??");
  EXPECT_EQ(written("\xed\xa0\x80"), "???");
  EXPECT_EQ(written("\xf4\x90\x80\x80"), "????");
  EXPECT_EQ(written("\xe0\x80\x80"), "???");
}

}  // namespace
