// Checks for the whole programs in this folder. A check counts; nothing stops at the first failure, so that one run shows
// them all. The last line of main is `return finish();`.
#pragma once
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

inline int passed = 0, failed = 0;

inline void check(bool ok, const char* what, int line, const std::string& detail = "") {
  ok ? ++passed : ++failed;
  if (!ok) std::printf("line %d: %s%s%s\n", line, what, detail.empty() ? "" : "\n  got: ", detail.c_str());
  std::fflush(stdout);  // a crash or a time limit later on does not take the lines before it along
}

template <class T>
std::string shown(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

#define CHECK(...)                                 \
  do {                                             \
    bool ok_ = false;                              \
    std::string got_;                              \
    try {                                          \
      ok_ = static_cast<bool>(__VA_ARGS__);        \
    } catch (const std::exception& e) {            \
      got_ = std::string("an error: ") + e.what(); \
    }                                              \
    check(ok_, #__VA_ARGS__, __LINE__, got_);      \
  } while (0)
#define CHECK_TEXT(expr, text)                                    \
  do {                                                            \
    std::string got_;                                             \
    try {                                                         \
      got_ = shown(expr);                                         \
    } catch (const std::exception& e) {                           \
      got_ = std::string("an error: ") + e.what();                \
    }                                                             \
    check(got_ == (text), #expr " shows " #text, __LINE__, got_); \
  } while (0)
// The call throws an error whose text contains `text`.
#define CHECK_ERROR(expr, Type, text)                                                           \
  do {                                                                                          \
    std::string got_ = "no error";                                                              \
    bool kind_ = false;                                                                         \
    try {                                                                                       \
      (void)(expr);                                                                             \
    } catch (const Type& e) {                                                                   \
      kind_ = true;                                                                             \
      got_ = e.what();                                                                          \
    } catch (const std::exception& e) {                                                         \
      got_ = std::string("another type: ") + e.what();                                          \
    }                                                                                           \
    check(kind_&& got_.find(text) != std::string::npos, #expr " throws " text, __LINE__, got_); \
  } while (0)

inline int finish() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
