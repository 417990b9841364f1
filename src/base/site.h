// Where in the user's program a call stands. Every public call that launches, allocates, moves or waits carries one.
#pragma once

#include <type_traits>

namespace tandem {

namespace detail {
#ifdef TD_LIBRARY
inline constexpr bool kUserCode = false;
#else
inline constexpr bool kUserCode = true;
#endif

/// The user's statement that the calling thread is in, as far as it called the library; line 0 elsewhere.
struct StatementLine {
  const char* file;
  int line;
};
extern thread_local constinit StatementLine statement_line;
}  // namespace detail

/// The file and line of a call. Taken by a default argument: `Site site = Site::here()`.
struct Site {
  const char* file;
  int line;

  // No default constructor, and a template, so that the braces of a list of numbers, {} or {0, 1}, are never taken for a site.
  template <class File>
  requires std::is_same_v<File, const char*>
  constexpr Site(File file_, int line_) : file(file_), line(line_) {}

  /// No line of the user's.
  static constexpr Site none() { return {"", 0}; }

  /// A site in force: until the end of the statement that it is made in, errors name it. So a function that refuses something needs no
  /// site at hand, and one that nothing is wrong with pays two loads and stores.
  class InForce {
   public:
    const char* file;
    int line;

    InForce(const char* file_, int line_) : file(file_), line(line_), before_(detail::statement_line) {
      detail::statement_line = {file, line};
    }
    ~InForce() { detail::statement_line = before_; }
    InForce(const InForce&) = delete;
    InForce& operator=(const InForce&) = delete;
    /// Its file and line.
    operator Site() const { return {file, line}; }

   private:
    detail::StatementLine before_;
  };

  /// The file and line of the call, where it is the default value of a parameter; in force where that call is the user's.
  template <bool user = detail::kUserCode>
  static constexpr std::conditional_t<user, InForce, Site> here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  /// The same of the smallest calls, not in force: they hand it to what throws. None in the library.
  template <bool user = detail::kUserCode>
  static constexpr Site of_call(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return user ? Site{file, line} : none();
  }
};

}  // namespace tandem
