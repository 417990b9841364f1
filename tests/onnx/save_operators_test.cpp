// Every row of the table that writes ONNX: a file is written, read again by our own reader, and compared on other inputs and other sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compile/trace.h"
#include "kernels/pointwise_simplified.h"
#include "onnx/export/writer.h"
#include "onnx/model.h"
#include "onnx/save.h"
#include "onnx/save_cases.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace nn = tandem::nn;

namespace {

using namespace onnx_cases;

td::Tensor numbers(Numbers kind, const td::Shape& sizes, td::DType dtype) {
  switch (kind) {
    case Numbers::Any: return td::is_floating(dtype) ? td::randn(sizes).to(dtype) : td::randint(-5, 6, sizes).to(dtype);
    case Numbers::Positive: return td::is_floating(dtype) ? (td::rand(sizes) + 0.5).to(dtype) : td::randint(1, 5, sizes).to(dtype);
    case Numbers::Unit: return (td::rand(sizes) * 1.8 - 0.9).to(dtype);
    case Numbers::Above1: return (td::rand(sizes) + 1.1).to(dtype);
    case Numbers::Bits: return td::randint(0, 2, sizes).to(td::kBool);
    case Numbers::Indices: return td::randint(0, 3, sizes);
  }
  return {};
}

/// What kernel calls a function makes: the names of entries.def, and of pointwise operations.
std::set<std::string> kernels_of(const Case& c, const Tensors& inputs) {
  td::compiling::Trace trace;
  std::set<std::string> names;
  const auto rows = td::onnx::exporting::all_rows();
  const auto note = [&](td::compiling::Call& call) {
    for (const auto& row : rows)
      if (*row.type == typeid(call)) names.insert(row.kernel);
    using td::kernels::Table;
    if (const auto* const one = dynamic_cast<td::compiling::CallOf<&Table::pointwise>*>(&call)) {
      static const char* const kNames[] = {
#define TD_UNARY(name, ...) #name,
#define TD_BINARY(name, ...) #name,
#define TD_KERNEL(name, ...) #name,
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
      };
      names.insert(kNames[static_cast<size_t>(td::kernels::simplified(one->argument<0>()))]);
    }
  };
  Tensors own;
  trace.record(
      [&] {
        for (const td::Tensor& x : inputs) own.push_back(td::empty(x.sizes(), {.dtype = x.dtype()}));
        (void)c.f(own);
      },
      note);
  return names;
}

double tolerance(td::DType dtype) {
  switch (dtype) {
    case td::kFloat16: return 1e-2;
    case td::kBFloat16: return 8e-2;
    case td::kFloat64: return 1e-6;  // runtimes have float constants of ONNX's attributes
    default: return 1e-4;
  }
}

class OnnxSaveOperators : public OnDevice {
 protected:
  void check(const Case& c, td::DType dtype, bool is_dynamic) {
    const std::string what = td::str(c.row, c.named, " of ", dtype, is_dynamic ? " with an open size" : "");
    SCOPED_TRACE(what);
    const auto inputs_of = [&](int64_t n) {
      Tensors inputs;
      for (const auto& [kind, sizes] : c.inputs) {
        td::Shape own = sizes;
        own[0] = n;
        inputs.push_back(numbers(kind, own, dtype).to(device()));
      }
      return inputs;
    };
    const Tensors examples = inputs_of(4);
    Tensors on_host;
    for (const td::Tensor& x : examples) on_host.push_back(x.cpu());
    EXPECT_TRUE(kernels_of(c, on_host).contains(c.row)) << "the case does not call its row";
    td::onnx::SaveOptions options{.opset_version = c.opset};
    if (is_dynamic)
      for (size_t i = 0; i < examples.size(); ++i) options.dynamic_axes[td::str("input_", i)][0] = "n";
    const td::onnx::Savable function{{}, [&](const Tensors& in) { return Tensors{c.f(in)}; }};
    try {
      td::onnx::save(function, examples, "operator.onnx", options);
      auto model = td::onnx::load("operator.onnx");
      model.to(device());
      for (const int64_t n : is_dynamic ? std::vector<int64_t>{4, 1, 9} : std::vector<int64_t>{4}) {
        const Tensors inputs = inputs_of(n);
        td::io::TensorMap named;  // an input that nobody reads is one, too
        for (size_t i = 0; i < inputs.size(); ++i) named[td::str("input_", i)] = inputs[i];
        const td::Tensor found = model.run(named).at("output_0"), wanted = c.f(inputs);
        ASSERT_EQ(found.sizes(), wanted.sizes());
        ASSERT_EQ(found.dtype(), wanted.dtype());
        const double limit = tolerance(dtype);
        EXPECT_TRUE(td::allclose(found.to(td::kFloat64), wanted.to(td::kFloat64), limit, limit, true)) << "n = " << n << found << wanted;
      }
    } catch (const td::Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  void check(const std::vector<Case>& cases) {
    td::manual_seed(3);
    for (const Case& c : cases) {
      std::vector<td::DType> dtypes;
      if (c.of_floats) dtypes = {td::kFloat32, td::kFloat64};
      if (c.of_floats && c.of_halves) dtypes.insert(dtypes.end(), {td::kFloat16, td::kBFloat16});
      if (c.of_integers) dtypes.insert(dtypes.end(), {td::kInt64, td::kInt32, td::kInt8, td::kUInt8});
      for (const td::DType dtype : dtypes) {
        if (dtype == td::kUInt8 && (std::string(c.row) == "threshold" || std::string(c.row) == "clamp" || std::string(c.row) == "rsub"))
          continue;
        const bool is_first = dtype == td::kFloat32 || dtype == td::kInt64;
        if (device().is_cuda() && !is_first) continue;  // the file is the same
        if (is_first) check(c, dtype, false);
        check(c, dtype, true);
      }
    }
  }
};

using std::vector;

std::vector<Case> kernel_cases() {
  const auto any = [](td::Shape sizes) { return std::pair(Numbers::Any, std::move(sizes)); };
  const auto indices = [](td::Shape sizes) { return std::pair(Numbers::Indices, std::move(sizes)); };
  using In = const Tensors&;
  return {
      {"fill",
       [](In in) {
         return td::full({in[0].size(0), 2}, 3, {.dtype = in[0].dtype(), .device = in[0].device()}) + in[0].narrow(1, 0, 2);
       },
       {kAny},
       true,
       true},
      {"copy", [](In in) { return in[0].t().contiguous() + 0; }, {kAny}, true, true},
      {"copy",
       [](In in) {
         return in[0].flip(td::Shape{0, 1});
       },
       {kAny},
       true,
       true,
       true,
       18,
       "OfNegativeStrides"},
      {"copy",
       [](In in) { return in[0].to(in[0].dtype() == td::kFloat32 ? td::kInt64 : td::kFloat32); },
       {kAny},
       true,
       true,
       true,
       18,
       "ToAnotherDType"},
      {"cat",
       [](In in) {
         return td::cat({in[0], in[1]}, 0);
       },
       {kAny, kAny},
       true,
       true},
      {"cat",
       [](In in) {
         return td::cat({in[0], in[1].narrow(1, 1, 2)}, 1);
       },
       {kAny, kAny},
       true,
       true,
       true,
       18,
       "OfViews"},
      {"arange",
       [](In in) { return td::arange(0, in[0].size(0), 1, {.dtype = in[0].dtype(), .device = in[0].device()}) + in[0].select(1, 0); },
       {kAny},
       true,
       true},
      {"arange",
       [](In in) { return td::arange(in[0].size(0), {.device = in[0].device()}) * 2 + 1; },
       {kAny},
       true,
       false,
       false,
       18,
       "OfWholeNumbers"},
      {"linspace", [](In in) { return in[0] * td::linspace(-1, 1, 5, {.dtype = in[0].dtype(), .device = in[0].device()}); }},
      {"pad",
       [](In in) {
         return td::pad(in[0], {1, 2}, "constant", td::Scalar(2));
       },
       {kAny},
       true,
       true},
      {"pad",
       [](In in) {
         return td::pad(in[0], {-1, 2, 1, 0}, "constant", td::Scalar(2));
       },
       {kAny},
       true,
       true,
       true,
       18,
       "OfFewer"},
      {"pad",
       [](In in) {
         return td::pad(in[0], {1, 2}, "reflect");
       },
       {any({4, 3, 5})},
       true,
       false,
       true,
       18,
       "Mirrored"},
      {"pad",
       [](In in) {
         return td::pad(in[0], {1, 2}, "replicate");
       },
       {any({4, 3, 5})},
       true,
       false,
       true,
       18,
       "Replicated"},
      {"pad",
       [](In in) {
         return td::pad(in[0], {1, 2}, "circular");
       },
       {any({4, 3, 5})},
       true,
       false,
       true,
       19,
       "Circular"},
      {"triangle", [](In in) { return td::tril(in[0], 1); }, {any({4, 5, 5})}, true, true},
      {"triangle", [](In in) { return td::triu(in[0]); }, {any({4, 5, 5})}, true, true, true, 18, "Upper"},
      {"resample",
       [](In in) {
         return td::interpolate(in[0], {.size = td::Shape{7, 6}, .mode = "bilinear"});
       },
       {any({4, 2, 3, 5})}},
      {"resample",
       [](In in) {
         return td::interpolate(in[0], {.scale_factor = {{2.0, 2.0}}});
       },
       {any({4, 2, 3, 5})},
       true,
       false,
       true,
       18,
       "Nearest"},
      {"reduce", [](In in) { return in[0].sum(1); }, {kAny}, true, true},
      {"reduce", [](In in) { return in[0].sum(); }, {kAny}, true, true, true, 13, "OfAll"},
      {"reduce",
       [](In in) {
         return in[0].mean(td::Shape{0, 2}, true);
       },
       {any({4, 3, 5})},
       true,
       false,
       true,
       13,
       "Mean"},
      {"reduce", [](In in) { return in[0].prod(1); }, {kUnit}, true, false, true, 18, "Product"},
      {"reduce", [](In in) { return in[0].amax(td::Shape{0}); }, {kAny}, true, true, true, 18, "Largest"},
      {"reduce", [](In in) { return in[0].amin(td::Shape{1}); }, {kAny}, true, true, true, 13, "Smallest"},
      {"reduce", [](In in) { return (in[0] > 0).any(1); }, {kAny}, true, true, true, 18, "Any"},
      {"reduce", [](In in) { return (in[0] > -2).all(1); }, {kAny}, true, true, true, 18, "All"},
      {"reduce", [](In in) { return td::count_nonzero(in[0], td::Shape{1}); }, {kAny}, true, true, true, 18, "CountNonzero"},
      {"reduce", [](In in) { return td::linalg::vector_norm(in[0], 1, td::Shape{1}); }, {kAny}, true, false, true, 18, "Norm1"},
      {"reduce", [](In in) { return td::linalg::vector_norm(in[0], 2, td::Shape{1}); }, {kAny}, true, false, true, 18, "Norm2"},
      {"reduce", [](In in) { return td::linalg::vector_norm(in[0], INFINITY, td::Shape{1}); }, {kAny}, true, false, true, 18, "NormInf"},
      {"reduce", [](In in) { return td::mse_loss(in[0], in[1]); }, {kAny, kAny}, true, false, true, 18, "MeanOfSquares"},
      {"reduce",
       [](In in) { return td::mse_loss(in[0], in[1], {.reduction = td::Reduction::Sum}); },
       {kAny, kAny},
       true,
       false,
       true,
       18,
       "SumOfSquares"},
      {"arg_reduce", [](In in) { return td::argmax(in[0], 1); }, {kAny}},
      {"arg_reduce", [](In in) { return td::argmin(in[0]); }, {kAny}, true, false, true, 18, "OfAll"},
      {"arg_reduce", [](In in) { return td::max(in[0], 0).values; }, {kAny}, true, true, true, 18, "Values"},
      {"variance", [](In in) { return td::var(in[0], td::Shape{1}); }, {kAny}},
      {"variance",
       [](In in) {
         return td::var(in[0], td::Shape{0, 1});
       },
       {kAny},
       true,
       false,
       true,
       18,
       "OfOpenSizes"},
      {"scan", [](In in) { return td::cumsum(in[0], 0); }, {kAny}, true, true},
      {"sort_part", [](In in) { return td::sort(in[0], 1, true).values; }, {kAny}, true, true, true, 18, "OfAll"},
      {"sort_part", [](In in) { return td::topk(in[0], 2).values; }, {kAny}, true, true},
      {"matmul", [](In in) { return td::matmul(in[0], in[1].t()); }, {kAny, kAny}, true, true},
      {"matmul", [](In in) { return td::matmul(in[0], in[1]); }, {any({4, 2, 3, 5}), any({4, 2, 5, 6})}, true, true, true, 18, "OfBatches"},
      {"matmul",
       [](In in) { return td::matmul(in[0], in[1].select(0, 0)); },
       {any({4, 3, 5}), any({4, 5, 6})},
       true,
       true,
       true,
       18,
       "OfRows"},
      {"matmul",
       [](In in) { return td::baddbmm(in[2], in[0], in[1], 0.5, 2); },
       {any({4, 3, 5}), any({4, 5, 6}), any({4, 3, 6})},
       true,
       false,
       true,
       18,
       "Added"},
      {"matmul",
       [](In in) { return td::addmm(in[2], in[0], in[1].t(), 0.5, 2); },
       {kAny, kAny, kOther},
       true,
       false,
       true,
       18,
       "AddedToMatrix"},
      {"matmul",
       [](In in) { return td::linear_relu(in[0], in[1].select(0, 0), in[2].select(0, 0)); },
       {kAny, any({4, 3, 5}), any({4, 3})},
       true,
       false,
       true,
       18,
       "Activated"},
      {"convolution",
       [](In in) { return td::conv2d(in[0], in[1].select(0, 0), {}, {.stride = 2, .padding = 1}); },
       {any({4, 2, 7, 6}), any({4, 3, 2, 3, 3})}},
      {"convolution",
       [](In in) { return td::conv1d(in[0], in[1].select(0, 0), {}, {.padding = 2, .dilation = 2, .groups = 2}); },
       {any({4, 2, 9}), any({4, 4, 1, 3})},
       true,
       false,
       true,
       18,
       "Of1Dim"},
      {"convolution",
       [](In in) { return td::conv3d(in[0], in[1].select(0, 0)); },
       {any({4, 2, 4, 5, 3}), any({4, 3, 2, 2, 2, 2})},
       true,
       false,
       true,
       18,
       "Of3Dims"},
      {"convolution_input",
       [](In in) { return td::conv_transpose2d(in[0], in[1].select(0, 0), {}, {.stride = 2, .padding = 1, .output_padding = 1}); },
       {any({4, 2, 4, 5}), any({4, 2, 3, 3, 3})}},
      {"max_pool", [](In in) { return td::max_pool2d(in[0], 3, {.stride = 2, .padding = 1}); }, {any({4, 2, 7, 8})}, true, false, true},
      {"max_pool",
       [](In in) { return td::max_pool2d(in[0], 3, {.stride = 2, .ceil_mode = true}); },
       {any({4, 2, 8, 6})},
       true,
       false,
       true,
       18,
       "Ceil"},
      {"max_pool",
       [](In in) {
         return td::adaptive_max_pool2d(in[0], {1, 1});
       },
       {any({4, 2, 7, 8})},
       true,
       false,
       true,
       18,
       "Global"},
      {"avg_pool", [](In in) { return td::avg_pool2d(in[0], 2, {.stride = 2, .padding = 1}); }, {any({4, 2, 7, 8})}},
      {"avg_pool",
       [](In in) { return td::avg_pool1d(in[0], 3, {.stride = 2, .ceil_mode = true, .count_include_pad = false}); },
       {any({4, 2, 8})},
       true,
       false,
       true,
       18,
       "Ceil"},
      {"reduce",
       [](In in) {
         return td::adaptive_avg_pool2d(in[0], {1, 1});
       },
       {any({4, 2, 7, 8})},
       true,
       false,
       true,
       18,
       "GlobalPool"},
      {"avg_pool",
       [](In in) {
         return td::adaptive_avg_pool2d(in[0], {2, 4});
       },
       {any({4, 2, 6, 8})},
       true,
       false,
       true,
       18,
       "Adaptive"},
      {"softmax", [](In in) { return td::softmax(in[0], 1); }, {any({4, 3, 5})}},
      {"log_softmax", [](In in) { return td::log_softmax(in[0], -1); }},
      {"normalize",
       [](In in) { return td::layer_norm(in[0], {5}, in[1].select(0, 0), in[1].select(0, 0)); },
       {any({4, 3, 5}), any({4, 5})}},
      {"normalize",
       [](In in) {
         return td::layer_norm(in[0], {3, 5});
       },
       {any({4, 3, 5})},
       true,
       false,
       true,
       13,
       "OfOldOpset"},
      {"normalize",
       [](In in) { return td::rms_norm(in[0], {5}, in[1].select(0, 0), 1e-3); },
       {any({4, 3, 5}), any({4, 5})},
       true,
       false,
       true,
       18,
       "RootMeanSquare"},
      {"normalize",
       [](In in) { return td::group_norm(in[0], 2, in[1].select(0, 0), in[1].select(0, 0)); },
       {any({4, 6, 3, 2}), any({4, 6})},
       true,
       false,
       true,
       18,
       "Groups"},
      {"normalize", [](In in) { return td::instance_norm(in[0]); }, {any({4, 3, 2, 5})}, true, false, true, 18, "Instances"},
      {"follow_statistics",
       [](In in) {
         const td::Options like{.dtype = in[0].dtype(), .device = in[0].device()};
         td::Tensor mean = td::zeros({3}, like), var = td::ones({3}, like);
         return td::batch_norm(in[0], mean, var, {.training = true});
       },
       {any({4, 3, 5})},
       true,
       false,
       false},
      {"pad",
       [](In in) {
         return td::pad(in[0], {1, 2, 0, 3}, "circular");
       },
       {any({4, 3, 4, 5})},
       true,
       true,
       true,
       18,
       "Wrapped"},
      {"unfold",
       [](In in) {
         return td::unfold(in[0], {2, 3}, {.dilation = {1, 2}, .padding = 1, .stride = 2});
       },
       {any({4, 2, 7, 8})}},
      {"fold",
       [](In in) {
         return td::fold(in[0], {5, 7}, 2, {.padding = 1, .stride = 2});
       },
       {any({4, 8, 12})}},
      {"cross_entropy",
       [](In in) { return td::cross_entropy(in[0], in[1], {.reduction = td::Reduction::None}); },
       {any({4, 5}), {Numbers::Indices, {4}}}},
      {"cross_entropy",
       [](In in) {
         return td::cross_entropy(
             in[0], in[1],
             {.weight = td::arange(1, 6, td::kFloat32).to(in[0].device(), in[0].dtype()), .ignore_index = 1, .label_smoothing = 0.2});
       },
       {any({4, 5}), {Numbers::Indices, {4}}},
       true,
       false,
       false,
       18,
       "Smoothed"},
      {"attention", [](In in) { return td::scaled_dot_product_attention(in[0], in[1], in[1]); }, {any({4, 2, 5, 4}), any({4, 2, 7, 4})}},
      {"attention",
       [](In in) { return td::scaled_dot_product_attention(in[0], in[1], in[1], {.is_causal = true}); },
       {any({4, 2, 5, 4}), any({4, 2, 7, 4})},
       true,
       false,
       true,
       18,
       "Causal"},
      {"attention",
       [](In in) { return td::scaled_dot_product_attention(in[0], in[1], in[1], {.attn_mask = in[2]}); },
       {any({4, 2, 5, 4}), any({4, 2, 7, 4}), {Numbers::Bits, {4, 1, 5, 7}}},
       true,
       false,
       true,
       18,
       "Masked"},
      {"attention",
       [](In in) { return td::scaled_dot_product_attention(in[0], in[1], in[1], {.enable_gqa = true}); },
       {any({4, 6, 5, 4}), any({4, 2, 7, 4})},
       true,
       false,
       true,
       18,
       "Grouped"},
      {"embedding", [](In in) { return td::embedding(in[0], in[1].select(0, 0)); }, {indices({4, 3}), any({4, 3, 6})}},
      {"index", [](In in) { return td::index_select(in[0], 1, in[1].select(0, 0)); }, {kAny, indices({4, 2})}, true, true},
      {"index",
       [](In in) {
         return in[0].permute({1, 2, 0}).index({in[1], in[2]});
       },
       {any({4, 5, 3}), indices({4, 2}), indices({4, 1})},
       true,
       true,
       true,
       18,
       "OfSeveral"},
      {"index_put",
       [](In in) {
         td::Tensor y = td::zeros({3, 5}, {.dtype = in[0].dtype(), .device = in[0].device()});
         y.index_put_({in[1].select(1, 0)}, in[0], true);
         return y;
       },
       {any({4, 5}), indices({4, 1})},
       true,
       false,
       false},
      {"gather", [](In in) { return td::gather(in[0], 1, in[1]); }, {kAny, indices({4, 2})}, true, true},
      {"scatter", [](In in) { return td::scatter_add(in[0], 1, in[1], in[2]); }, {kAny, indices({4, 2}), kAny}, true, false, false},
      {"scatter",
       [](In in) { return td::scatter(in[0], 1, in[1].narrow(1, 0, 1), in[2]); },
       {kAny, indices({4, 5}), kAny},
       true,
       true,
       true,
       18,
       "Set"},
  };
}

}  // namespace

TEST_P(OnnxSaveOperators, PointwiseRowsGiveWhatTheOperationsGive) {
  const auto cases = pointwise_cases();
  std::set<std::string> with_case;
  for (const Case& c : cases) with_case.insert(c.row);
  for (const std::string& name : td::onnx::exporting::pointwise_names()) EXPECT_TRUE(with_case.contains(name)) << name << " has no case";
  check(cases);
}

TEST_P(OnnxSaveOperators, KernelRowsGiveWhatTheOperationsGive) {
  const auto cases = kernel_cases();
  // Recurrent layers have modules of their own in save_test.cpp.
  std::set<std::string> with_case = {"pointwise", "recurrent", "lstm_cell", "gru_cell"};
  for (const Case& c : cases) with_case.insert(c.row);
  for (const auto& row : td::onnx::exporting::all_rows()) EXPECT_TRUE(with_case.contains(row.kernel)) << row.kernel << " has no case";
  check(cases);
}

INSTANTIATE_TEST_SUITE_P(Devices, OnnxSaveOperators, testing::Values("cpu", "cuda:0"), device_name);
