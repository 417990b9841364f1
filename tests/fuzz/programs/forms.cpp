#include "forms.h"

#include <array>

namespace fuzz {
namespace {

template <class T, size_t n>
const T& round(const T (&all)[n], int number) {
  return all[static_cast<size_t>(number) % n];
}

const Unary kUnary[] = {
    {"td::tanh(", ")", [](const td::Operand& x) { return td::tanh(x); }},
    {"", " * 0.5", [](const td::Operand& x) { return x * 0.5; }},
    {"", " * 2", [](const td::Operand& x) { return x * 2; }},
    {"", " + 1", [](const td::Operand& x) { return x + 1; }},
    {"-", "", [](const td::Operand& x) { return -x; }},
    {"td::sigmoid(", ")", [](const td::Operand& x) { return td::sigmoid(x); }},
    {"td::relu(", ")", [](const td::Operand& x) { return td::relu(x); }},
    {"td::sin(", ")", [](const td::Operand& x) { return td::sin(x); }},
    {"td::abs(", ")", [](const td::Operand& x) { return td::abs(x); }},
    {"1 - ", "", [](const td::Operand& x) { return 1 - x; }},
};

const Binary kBinary[] = {
    {"", " + ", "", [](const td::Operand& x, const td::Operand& y) { return x + y; }},
    {"", " - ", "", [](const td::Operand& x, const td::Operand& y) { return x - y; }},
    {"td::tanh(", " * ", ")", [](const td::Operand& x, const td::Operand& y) { return td::tanh(x * y); }},
    {"td::maximum(", ", ", ")", [](const td::Operand& x, const td::Operand& y) { return td::maximum(x, y); }},
    {"td::tanh(td::atan2(", ", ", "))", [](const td::Operand& x, const td::Operand& y) { return td::tanh(td::atan2(x, y)); }},
    {"", " + td::sigmoid(", ")", [](const td::Operand& x, const td::Operand& y) { return x + td::sigmoid(y); }},
};

const Change kChange[] = {
    {".add_(1)", "", false, [](const td::Tensor& x, const td::Tensor&) { x.add_(1); }},
    {".mul_(0.5)", "", false, [](const td::Tensor& x, const td::Tensor&) { x.mul_(0.5); }},
    {".tanh_()", "", false, [](const td::Tensor& x, const td::Tensor&) { x.tanh_(); }},
    {".zero_()", "", false, [](const td::Tensor& x, const td::Tensor&) { x.zero_(); }},
    {".neg_()", "", false, [](const td::Tensor& x, const td::Tensor&) { x.neg_(); }},
    {".fill_(0.75)", "", false, [](const td::Tensor& x, const td::Tensor&) { x.fill_(0.75); }},
    {".flatten().narrow(0, 0, 1).mul_(2)", "", false, [](const td::Tensor& x, const td::Tensor&) { x.flatten().narrow(0, 0, 1).mul_(2); }},
    {".add_(", ")", true, [](const td::Tensor& x, const td::Tensor& y) { x.add_(y); }},
    {".copy_(", ")", true, [](const td::Tensor& x, const td::Tensor& y) { x.copy_(y); }},
    {".mul_(", ").tanh_()", true, [](const td::Tensor& x, const td::Tensor& y) { x.mul_(y).tanh_(); }},
};

const td::Shape kSizes[] = {{3}, {2, 3}, {}, {4, 4}, {2, 3, 4}, {3}, {2, 3}, {4, 4}, {1}, {64, 40}, {3, 2}, {12000}};

}  // namespace

const Unary& unary(int number) { return round(kUnary, number); }
const Binary& binary(int number) { return round(kBinary, number); }
const Change& change(int number) { return round(kChange, number); }
const td::Shape& sizes(int number) { return round(kSizes, number); }

std::string text_of(const td::Shape& sizes) {
  std::string text = "{";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "}";
}

td::Tensor view_of(const td::Tensor& x, int p, int q, std::string& text) {
  const auto dims = static_cast<int>(x.dim());
  const auto n = [](auto value) { return std::to_string(value); };
  if (dims == 0 || (p % 8 == 0 && dims < 4)) {
    text = ".unsqueeze(0)";
    return x.unsqueeze(0);
  }
  const int d = q % dims;
  const auto size = static_cast<int>(x.size(d));
  switch (p % 8) {
    case 1:
      if (!x.is_contiguous()) break;
      text = ".view({-1})";
      return x.view({-1});
    case 2:
    case 3:
      if (size > 0) {
        text = ".select(" + n(d) + ", " + n(q % size) + ")";
        return x.select(d, q % size);
      }
      [[fallthrough]];
    case 4: text = ".narrow(" + n(d) + ", 0, " + n((size + 1) / 2) + ")"; return x.narrow(d, 0, (size + 1) / 2);
    case 5:
      if (dims < 4 && x.numel() < 5000) {
        std::vector<int64_t> wide{2};
        for (int i = 0; i < dims; ++i) wide.push_back(x.size(i));
        text = ".expand(" + text_of(wide) + ")";
        return x.expand(wide);
      }
      [[fallthrough]];
    case 6: text = ".slice(" + n(d) + ", 0, {}, 2)"; return x.slice(d, 0, {}, 2);
    default: break;
  }
  text = ".transpose(0, " + n(dims - 1) + ")";
  return x.transpose(0, dims - 1);
}

td::Tensor reduction_of(const td::Tensor& x, int p, std::string& text) {
  const bool flat = x.dim() == 0;
  switch (p % 10) {
    case 0: text = ".sum()"; return x.sum();
    case 1: text = ".mean()"; return x.mean();
    case 2:
      if (flat) break;
      text = ".sum(0)";
      return x.sum(0);
    case 3:
      if (flat) break;
      text = ".softmax(-1)";
      return x.softmax(-1);
    case 4:
      if (flat) break;
      text = ".cumsum(0)";
      return x.cumsum(0);
    case 5:
      if (flat || x.numel() == 0) break;
      text = ".amax({0})";
      return x.amax({0});
    case 6:
      if (x.dim() != 2) break;
      text = ".matmul(td::ones({" + std::to_string(x.size(1)) + ", 2}, x.device()))";
      return x.matmul(td::ones({x.size(1), 2}, x.device()));
    case 7: text = ".contiguous()"; return x.contiguous();
    case 8:
      if (flat) break;
      text = ".flip({0})";
      return x.flip({0});
    default: break;
  }
  text = ".clone()";
  return x.clone();
}

td::Tensor pattern(const td::Shape& sizes, int number, td::Device device) {
  const auto count = static_cast<double>(sizes.numel());
  return ((td::arange(count, {.dtype = td::kFloat32, .device = device}) * (number % 5 + 1) + number) % 13 - 6).div_(4).reshape(sizes);
}

const char* const kPatternText = R"(td::Tensor pattern(const td::Shape& sizes, int number, td::Device device) {
  const auto count = static_cast<double>(sizes.numel());
  return ((td::arange(count, {.dtype = td::kFloat32, .device = device}) * (number % 5 + 1) + number) % 13 - 6).div_(4).reshape(sizes);
}
)";

}  // namespace fuzz
