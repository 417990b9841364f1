// The functions that a program's operations name by number, each with how it is written.
#pragma once

#include <tandem/tandem.h>

#include <string>

namespace fuzz {

namespace td = tandem;

/// A function of one operand: `before` x `after`.
struct Unary {
  const char *before, *after;
  td::Tensor (*call)(const td::Operand& x);
  [[nodiscard]] std::string text(const std::string& x) const { return before + x + after; }
};
struct Binary {
  const char *before, *between, *after;
  td::Tensor (*call)(const td::Operand& x, const td::Operand& y);
  [[nodiscard]] std::string text(const std::string& x, const std::string& y) const { return before + x + between + y + after; }
};
/// A change of x in place; `takes` says whether y is used.
struct Change {
  const char *before, *after;
  bool takes;
  void (*call)(const td::Tensor& x, const td::Tensor& y);
  [[nodiscard]] std::string text(const std::string& x, const std::string& y) const {
    return x + before + (takes ? y : std::string()) + after;
  }
};

// By number, counted round.
const Unary& unary(int number);
const Binary& binary(int number);
const Change& change(int number);
/// A view of x, whatever its sizes, and how it is written after x.
td::Tensor view_of(const td::Tensor& x, int p, int q, std::string& text);
/// A reduction or another function of a whole tensor.
td::Tensor reduction_of(const td::Tensor& x, int p, std::string& text);

const td::Shape& sizes(int number);
std::string text_of(const td::Shape& sizes);
/// Small numbers, most of them no integers: each a multiple of 1/4.
td::Tensor pattern(const td::Shape& sizes, int number, td::Device device);
/// Their text in a printed program.
extern const char* const kPatternText;

}  // namespace fuzz
