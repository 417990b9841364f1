// Typical mistakes, message by message: what went wrong with both values, where in the user's program, and what to do.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "runtime/driver.h"
#include "tandem.h"

namespace td = tandem;

namespace {

struct Mistake {
  const char* name;
  std::vector<std::string> what;  // the values that the text names, in order
  std::string advice;             // and what to do
  std::function<void()> make;
};

void write_file(const char* path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

struct Unnamed : td::nn::Module {
  td::nn::Linear fc{2, 2};  // missing in fields
  td::Tensor forward(const td::Tensor& x) override { return fc(x); }
};

/// The row of a table that line `number` of this file is in: the text from there on.
std::string row_at(int number) {
  std::ifstream file(TANDEM_TESTS_DIR "/errors/mistakes_test.cpp");
  std::string row, line;
  for (int i = 0; i < number && std::getline(file, line); ++i)
    if (line.starts_with("      {\"")) row = line;
  return row;
}

const td::Tensor a = td::ones({2, 3}), square = td::ones({2, 2}), five = td::ones({5}), whole = td::ones({2, 3}, {.dtype = td::kInt64});
const td::Tensor images = td::ones({1, 3, 8, 8}), classes = td::zeros({4}, {.dtype = td::kInt64});

std::vector<Mistake> shapes() {
  return {
      {"sizes that do not broadcast", {"(3)", "(5)", "dimension 1"}, "reshape one", [] { (void)(a + five); }},
      {"the same of a comparison", {"(3)", "(5)"}, "reshape one", [] { (void)(a < five); }},
      {"the same of a function", {"(3)", "(5)"}, "reshape one", [] { (void)td::pow(a, five); }},
      {"the same of where", {"(3)", "(5)"}, "reshape one", [] { (void)td::where(a > 0, a, five); }},
      {"in place into less", {"[3]", "[2, 3]"}, "new tensor", [] { td::ones({3}).add_(a); }},
      {"a product", {"2x3", "2x3"}, "t()", [] { (void)td::mm(a, a); }},
      {"a product of any dimensions", {"2x3", "2x2"}, "t()", [] { (void)td::matmul(a, square); }},
      {"a batched product",
       {"[1, 3]", "[2, 2]"},
       "transpose(1, 2)",
       [] {
         (void)td::bmm(td::ones({1, 2, 3}), td::ones({2, 2, 3}));
       }},
      {"a product of a vector", {"mat1", "1-D"}, "matmul", [] { (void)td::mm(five, a); }},
      {"linear",
       {"2x3", "4x2"},
       "in_features",
       [] {
         (void)td::linear(a, td::ones({2, 4}));
       }},
      {"view",
       {"[4, 2]", "6"},
       "product",
       [] {
         (void)a.view({4, 2});
       }},
      {"reshape",
       {"[4, -1]", "6"},
       "product",
       [] {
         (void)a.reshape({4, -1});
       }},
      {"two sizes to infer",
       {"one dimension", "[-1, -1]"},
       "all sizes but one",
       [] {
         (void)a.view({-1, -1});
       }},
      {"view of what is not dense", {"[3, 2]", "[6]"}, "reshape", [] { (void)a.t().view({6}); }},
      {"cat",
       {"3", "2"},
       "another dimension",
       [] {
         (void)td::cat({a, square}, 0);
       }},
      {"cat of other dimensions",
       {"2", "1"},
       "stack",
       [] {
         (void)td::cat({a, five}, 0);
       }},
      {"cat of nothing", {"non-empty"}, "give", [] { (void)td::cat({}, 0); }},
      {"stack",
       {"[2, 3]", "[5]"},
       "cat",
       [] {
         (void)td::stack({a, five});
       }},
      {"stack of nothing", {"non-empty"}, "give", [] { (void)td::stack({}); }},
      {"expand",
       {"[3, 3]", "[2, 3]"},
       "repeat()",
       [] {
         (void)a.expand({3, 3});
       }},
      {"permute",
       {"2", "3"},
       "each dimension once",
       [] {
         (void)a.permute({0, 1, 2});
       }},
      {"a number of many", {"6"}, "sum()", [] { (void)a.item<float>(); }},
      {"copy_", {"[2, 3]", "[5]"}, "reshape", [] { a.clone().copy_(five); }},
      {"convolution of other channels",
       {"4", "3"},
       "in_channels",
       [] {
         (void)td::conv2d(images, td::ones({8, 4, 3, 3}));
       }},
      {"mse_loss", {"[2, 3]", "[5]"}, "reshape", [] { (void)td::mse_loss(a, five); }},
      {"layer_norm", {"[4]", "[2, 3]"}, "normalized_shape", [] { (void)td::layer_norm(a, {4}); }},
      {"einsum",
       {"3", "2"},
       "another letter",
       [] {
         (void)td::einsum("ij,jk->ik", {a, square});
       }},
      {"a window that is too large",
       {"(1x2x2)", "[3, 3]"},
       "smaller window",
       [] {
         (void)td::max_pool2d(td::ones({1, 1, 2, 2}), 3);
       }},
      {"a kernel that is too large",
       {"(8 x 8)", "(9 x 9)"},
       "smaller kernel",
       [] {
         (void)td::conv2d(images, td::ones({8, 3, 9, 9}));
       }},
      {"no picture into a convolution",
       {"3D", "[3, 8]"},
       "unsqueeze()",
       [] {
         td::nn::Conv2d(3, 8, 3)(td::ones({3, 8}));
       }},
      {"a normalization of other channels", {"3", "[4]"}, "num_features", [] { td::nn::BatchNorm2d(4)(images); }},
      {"one value to normalize",
       {"[1, 3]"},
       "eval()",
       [] {
         td::nn::BatchNorm1d(3)(td::ones({1, 3}));
       }},
      {"more of the largest than there are", {"9", "3"}, "0 to 3", [] { (void)a.topk(9); }},
      {"repeats for too few dimensions", {"[2]", "[2, 3]"}, "each dimension", [] { (void)a.repeat({2}); }},
      {"inverse of a singular matrix",
       {"element 1"},
       "lstsq",
       [] {
         (void)td::linalg::inv(td::zeros({2, 2}));
       }},
      {"inverse of no square", {"2", "3"}, "square", [] { (void)td::linalg::inv(a); }},
  };
}

std::vector<Mistake> numbers_and_devices() {
  return {
      {"a product of dtypes", {"Float", "Long"}, "to()", [] { (void)td::mm(a, whole.t()); }},
      {"a function of integers", {"Long"}, "to(kFloat32)", [] { (void)td::softmax(whole, 1); }},
      {"a mean of integers", {"Long"}, "to(kFloat32)", [] { (void)whole.mean(); }},
      {"floats into integers", {"Float", "Long"}, "new tensor", [] { whole.clone().add_(a); }},
      {"bits of floats", {"float32"}, "to(kInt64)", [] { (void)(a & a); }},
      {"minus of truths",
       {"bool"},
       "logical_xor",
       [] { (void)(td::ones({2}, {.dtype = td::kBool}) - td::ones({2}, {.dtype = td::kBool})); }},
      {"the address as another type", {"Long", "Float"}, "to()", [] { (void)a.data_ptr<int64_t>(); }},
      {"gradients of integers", {"int64"}, "to(kFloat32)", [] { whole.clone().requires_grad_(); }},
      {"two devices", {"cuda:0", "cpu"}, "to(device)", [] { (void)(a.cuda(0) + a); }},
      {"two GPUs", {"cuda:0", "cuda:1"}, "to(device)", [] { (void)(a.cuda(0) + a.cuda(1)); }},
      {"a product of two devices", {"cpu", "cuda:0"}, "to(device)", [] { (void)td::mm(a.cuda(0), square.t()); }},
      {"cat of two devices",
       {"cuda:0", "cpu"},
       "to(device)",
       [] {
         (void)td::cat({a.cuda(0), a}, 0);
       }},
      {"a model left on the CPU", {"cpu", "cuda:0"}, "to(device)", [] { td::nn::Linear(3, 2)(a.cuda(0)); }},
      {"a target left on the CPU",
       {"cpu", "cuda:0"},
       "to(device)",
       [] {
         (void)td::cross_entropy(td::ones({4, 3}, "cuda:0"), classes);
       }},
      {"a GPU that is not there", {"cuda:7", "cuda:0 to cuda:1"}, "cuda:0 to cuda:1", [] { (void)a.cuda(7); }},
      {"a GPU below the first", {"cuda:-3"}, "must not be negative", [] { (void)a.to(td::gpu(-3)); }},
      {"a name of no device, to move to", {"'cuda0'"}, "'cuda:1'", [] { (void)a.to("cuda0"); }},
      {"a name of no device, to move a model to", {"'cuda0'"}, "'cuda:1'", [] { td::nn::Linear(2, 2).to("cuda0"); }},
      {"a name of no device, to make a tensor on", {"'cuda0'"}, "'cuda:1'", [] { (void)td::zeros({2}, "cuda0"); }},
      {"a device's name without a colon", {"cuda0"}, "'cuda:1'", [] { (void)td::Device("cuda0"); }},
      {"a device of another kind", {"gpu"}, "'cuda'", [] { (void)td::Device("gpu"); }},
      {"no device's name", {"must not be empty"}, "'cuda'", [] { (void)td::Device(""); }},
      {"pinned memory on a GPU", {"cuda:0"}, "on the CPU", [] { (void)td::empty({2}, {.device = "cuda:0", .pin_memory = true}); }},
      {"more than a GPU has",
       {"4.00 GiB", "256.00 MiB"},
       "smaller batches",
       [] {
         (void)td::empty({1 << 20, 1 << 10}, "cuda:0");
       }},
  };
}

std::vector<Mistake> indices_and_targets() {
  return {
      {"an undefined tensor", {"undefined"}, "never given a value", [] { (void)(td::Tensor() + a); }},
      {"sizes of an undefined tensor", {"undefined"}, "never given a value", [] { (void)td::Tensor().sizes(); }},
      {"a gradient that is not there", {"undefined"}, "backward", [] { (void)a.grad().sum(); }},
      {"an index", {"index 2", "[2, 3]"}, "-2 to 1", [] { (void)a[2]; }},
      {"an index of a second dimension", {"index 3", "[3]"}, "-3 to 2", [] { (void)a[0][3]; }},
      {"too many indices",
       {"2", "3"},
       "one a dimension",
       [] {
         (void)a.index({0, 0, 0});
       }},
      {"a dimension", {"[-2, 1]", "2"}, "expected to be in range", [] { (void)a.sum(2); }},
      {"a size", {"[-2, 1]", "5"}, "expected to be in range", [] { (void)a.size(5); }},
      {"an embedding's index", {"99", "10"}, "0 to 9", [] { td::nn::Embedding(10, 2)(td::full({1}, 99, {.dtype = td::kInt64})); }},
      {"a float as an index", {"float32"}, "to(kInt64)", [] { (void)td::index_select(a, 0, td::ones({1})); }},
      {"a mask of another size", {"[2]", "[5]"}, "of its sizes", [] { (void)five.index({td::ones({2}, {.dtype = td::kBool})}); }},
      {"floats into an embedding", {"Long or Int", "Float"}, "to(kInt64)", [] { td::nn::Embedding(10, 4)(td::ones({2})); }},
      {"classes of floats", {"LongTensor", "Float"}, "to(kInt64)", [] { (void)td::one_hot(td::ones({2})); }},
      {"gather by floats", {"gather"}, "int64", [] { (void)td::gather(a, 1, a); }},
      {"a float target",
       {"[4, 3]", "[4]", "Float"},
       "to(kInt64)",
       [] {
         (void)td::cross_entropy(td::ones({4, 3}), td::zeros({4}));
       }},
      {"a target of other size",
       {"(4)", "(2)"},
       "one class a sample",
       [] {
         (void)td::nll_loss(td::ones({4, 3}), classes.slice(0, 0, 2));
       }},
      {"a class out of range",
       {"9", "3"},
       "0 to 2",
       [] {
         (void)td::cross_entropy(td::ones({4, 3}), td::full({4}, 9, {.dtype = td::kInt64}));
       }},
      {"probabilities above one", {"between 0 and 1"}, "with_logits", [] { (void)td::binary_cross_entropy(a * 2, a); }},
  };
}

std::vector<Mistake> gradients() {
  return {
      {"backward of what has no history", {"does not require grad"}, "requires_grad_()", [] { a.sum().backward(); }},
      {"backward of many", {"scalar", "[2, 3]"}, "gradient", [] { (a.clone().requires_grad_() * 2).backward(); }},
      {"a gradient of other sizes", {"[5]", "[2, 3]"}, "reshape", [] { (a.clone().requires_grad_() * 2).backward(five); }},
      {"backward twice",
       {"second time"},
       "retain_graph = true",
       [] {
         const td::Tensor y = (a.clone().requires_grad_() * a.clone().requires_grad_()).sum();
         y.backward();
         y.backward();
       }},
      {"in place on a leaf", {"[add_]", "leaf"}, "NoGradGuard", [] { a.clone().requires_grad_().add_(1); }},
      {"in place on what backward needs",
       {"version 1", "version 0"},
       "clone()",
       [] {
         const td::Tensor x = a.clone().requires_grad_(), y = x.exp();
         y.add_(1);
         y.sum().backward();
       }},
      {"grad of what needs none", {"input 0"}, "requires_grad_()", [] { (void)td::grad({(a.clone().requires_grad_() * 2).sum()}, {a}); }},
      {"a new gradient of other sizes", {"[5]", "[2, 3]"}, "are the same size", [] { a.clone().set_grad(five); }},
  };
}

std::vector<Mistake> modules_and_training() {
  return {
      {"negative features", {"-1", "2"}, "must not be negative", [] { td::nn::Linear(-1, 2); }},
      {"a probability above one", {"between 0 and 1", "1.5"}, "such as 0.5", [] { td::nn::Dropout(1.5); }},
      {"groups that do not divide", {"3", "2"}, "divisible", [] { td::nn::Conv2d(3, 4, 3, {.groups = 2}); }},
      {"groups of a normalization", {"4", "3"}, "divisible", [] { td::nn::GroupNorm(3, 4); }},
      {"a padding's name", {"'some'"}, "'same', 'valid'", [] { td::nn::Conv2d(3, 4, 3, {.padding = "some"}); }},
      {"a padding's mode", {"'mirror'"}, "'reflect'", [] { td::nn::Conv2d(3, 4, 3, {.padding_mode = "mirror"}); }},
      {"a layer's number", {"index 5", "1 modules"}, "from 0", [] { (void)td::nn::Sequential(td::nn::ReLU()).at(5); }},
      {"an optimizer without parameters", {"empty parameter list"}, "fields", [] { td::optim::Adam(Unnamed().parameters()); }},
      {"a negative learning rate", {"[SGD]", "learning rate", "-1"}, "from 0 on", [] { td::optim::SGD({a.clone()}, {.lr = -1}); }},
      {"Nesterov without momentum", {"Nesterov"}, "momentum", [] { td::optim::SGD({a.clone()}, {.nesterov = true}); }},
      {"an optimizer of results", {"non-leaf"}, "detach()", [] { td::optim::SGD({a.clone().requires_grad_() * 2}, {.lr = 0.1}); }},
      {"an optimizer of integers", {"Long"}, "to(kFloat32)", [] { td::optim::SGD({whole}, {.lr = 0.1}); }},
      {"parameters of a lazy layer", {"LazyLinear"}, "nn::initialize", [] { (void)td::nn::LazyLinear(3).parameters(); }},
      {"an optimizer on the heap",
       {"[Adam]", "learning rate", "-1"},
       "from 0 on",
       [] { (void)td::optim::make<td::optim::Adam>({a.clone()}, {.lr = -1}); }},
      {"a Trainer's target of floats",
       {"[4, 2]", "[4]"},
       "to(kInt64)",
       [] {
         struct Net : td::train::Classifier {
           td::nn::Linear fc{3, 2};
           void fields(td::nn::Fields& f) override { f("fc", fc); }
           td::Tensor forward(const td::Tensor& x) override { return fc(x); }
           std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
             return td::optim::make<td::optim::SGD>(parameters(), {.lr = 0.1});
           }
         } net;
         const td::data::TensorDataset rows({td::ones({4, 3}), td::zeros({4})});
         td::train::Trainer({.max_epochs = 1, .num_gpus = 0, .quiet = true}).fit(net, td::train::DataModule(rows, {.batch_size = 4}));
       }},
      {"a parameter twice",
       {"more than one place"},
       "once",
       [] {
         td::optim::SGD({a, a}, {.lr = 0.1});
       }},
      {"a wrapper that outlives its module",
       {"[DataParallel]", "has ended"},
       "keep it",
       [] {
         std::optional<td::nn::Linear> net(std::in_place, 3, 2);
         td::parallel::DataParallel wrapper(*net, {"cpu"});
         net.reset();
         wrapper(a);
       }},
      {"a batch of no samples",
       {"[DataLoader]", "batch_size", "0"},
       "such as 32",
       [] { td::data::DataLoader(td::data::TensorDataset({a}), {.batch_size = 0}); }},
      {"workers below zero",
       {"[DataLoader]", "num_workers", "-1"},
       "give 0",
       [] { td::data::DataLoader(td::data::TensorDataset({a}), {.num_workers = -1}); }},
      {"samples of different sizes",
       {"[1]", "[2]"},
       "collate_fn",
       [] {
         struct Growing : td::data::Dataset {
           int64_t size() const override { return 2; }
           td::data::Sample get(int64_t i) const override { return {{td::ones({i + 1})}}; }
         };
         for (const auto& batch : td::data::DataLoader(Growing{}, {.batch_size = 2, .num_workers = 1})) (void)batch;
       }},
      {"a dataset that throws",
       {"[Dataset]", "sample 5", "the disk is gone"},
       "leave it out",
       [] {
         struct Broken : td::data::Dataset {
           int64_t size() const override { return 8; }
           td::data::Sample get(int64_t i) const override {
             if (i == 5) throw std::runtime_error("the disk is gone");
             return {{td::ones({1})}};
           }
         };
         for (const auto& batch : td::data::DataLoader(Broken{}, {.batch_size = 4, .num_workers = 1})) (void)batch;
       }},
      {"tensors of other numbers of samples",
       {"[TensorDataset]", "2 samples", "5"},
       "as many rows",
       [] {
         (void)td::data::TensorDataset({a, five});
       }},
      {"epochs below zero", {"[Trainer]", "max_epochs", "-1"}, "such as 10", [] { td::train::Trainer({.max_epochs = -1}); }},
      {"no optimizer for the Trainer",
       {"[Trainer.fit]", "configure_optimizers"},
       "optim::make<optim::SGD>",
       [] {
         struct Net : td::train::Classifier {
           td::nn::Linear fc{3, 2};
           void fields(td::nn::Fields& f) override { f("fc", fc); }
           td::Tensor forward(const td::Tensor& x) override { return fc(x); }
           std::unique_ptr<td::optim::Optimizer> configure_optimizers() override { return nullptr; }
         } net;
         const td::data::TensorDataset rows({td::ones({4, 3}), td::zeros({4}, {.dtype = td::kInt64})});
         td::train::Trainer({.max_epochs = 1, .num_gpus = 0, .quiet = true}).fit(net, td::train::DataModule(rows, {.batch_size = 4}));
       }},
      {"a step size of nothing",
       {"[StepLR]", "step_size", "0"},
       "such as 10",
       [] {
         td::optim::SGD sgd({a.clone()}, {.lr = 0.1});
         td::optim::StepLR(sgd, 0);
       }},
      {"workers before init",
       {"[spawn]", "main"},
       "multiprocessing::init",
       [] {
         td::multiprocessing::spawn(
             +[](int) {}, 2);
       }},
      {"a replica's layer",
       {"replica 0 on cuda:0", "2x3 and 4x2", "module: Linear"},
       "in_features",
       [] {
         td::nn::Linear fc(4, 2);
         fc.to("cuda:0");
         td::parallel::DataParallel(fc, {"cuda:0", "cuda:1"})(td::ones({4, 3}, "cuda:0"));
       }},
      {"a replica's parameters elsewhere",
       {"[DataParallel]", "cuda:0", "cpu", "'weight'"},
       "to(\"cuda:0\")",
       [] {
         td::nn::Linear fc(3, 2);
         td::parallel::DataParallel(fc, {"cuda:0", "cuda:1"})(td::ones({4, 3}, "cuda:0"));
       }},
      {"a wrapper without ranks",
       {"[DistributedDataParallel]", "process group"},
       "call init_process_group first",
       [] {
         td::nn::Linear fc(3, 2);
         td::parallel::DistributedDataParallel ddp(fc);
       }},
      {"order given twice",
       {"shuffle"},
       "in one way",
       [] { td::data::DataLoader(td::data::TensorDataset({a}), {.shuffle = true, .sampler = td::data::SequentialSampler(2)}); }},
      {"state of another model",
       {"weight", "[2, 3]", "[2, 2]"},
       "as the saved one",
       [] { td::nn::Linear(2, 2).load_state_dict(td::nn::Linear(3, 2).state_dict()); }},
      {"state without a name",
       {"bias"},
       "strict = false",
       [] { td::nn::Linear(2, 2).load_state_dict(td::nn::Linear(2, 2, {.bias = false}).state_dict()); }},
  };
}

std::vector<Mistake> datasets_and_pictures() {
  static const td::data::TensorDataset rows({a});
  static const td::Tensor picture = td::zeros({3, 4, 4}, {.dtype = td::kUInt8});
  return {
      {"samples that are not there", {"1", "9", "2"}, "0 <= begin <= end <= 2", [] { (void)rows.subset(1, 9); }},
      {"a sample that is not there",
       {"7"},
       "out of range for 2 samples",
       [] {
         (void)rows.subset(std::vector<int64_t>{0, 7});
       }},
      {"a part of a dataset", {"0", "9", "2"}, "0 <= begin <= end <= 2", [] { (void)td::data::subset(rows, 0, 9); }},
      {"parts that don't add up",
       {"3", "2"},
       "must agree",
       [] {
         (void)td::data::random_split(rows, {2, 1});
       }},
      {"a rank that is not there", {"5", "2"}, "0 to 1", [] { (void)td::data::DistributedSampler(8, 2, 5); }},
      {"no picture",
       {"[read_image]", "nothing.png", "No such file"},
       "has no such file",
       [] { (void)td::data::read_image("nothing.png"); }},
      {"no file in a folder that is there",
       {"[load_npy]", "no.npy", "No such file"},
       "has no such file",
       [] { (void)td::io::load_npy("no.npy"); }},
      {"a file in no folder",
       {"[read_csv]", "nowhere/no.csv", "No such file"},
       "there is no folder",
       [] { (void)td::data::read_csv("nowhere/no.csv"); }},
      {"no folder of pictures",
       {"[ImageFolder]", "nowhere", "No such file"},
       "a folder of pictures for each class",
       [] { (void)td::data::ImageFolder("nowhere"); }},
      {"no data set", {"nowhere", "train-images-idx3-ubyte"}, "name the folder", [] { (void)td::data::Mnist("nowhere"); }},
      {"words in a table",
       {"line 2", "'x'"},
       ".categories",
       [] {
         write_file("words.csv", "a,b\n1,x\n");
         (void)td::data::read_csv("words.csv");
       }},
      {"no picture's bytes", {"[decode_image]"}, "PNG", [] { (void)td::data::decode_image("x"); }},
      {"a picture of other numbers",
       {"[write_png]", "float32"},
       "uint8",
       [] {
         td::data::write_png(td::zeros({3, 2, 2}), "x.png");
       }},
      {"a picture of no size", {"[Resize]", "0"}, "positive", [] { (void)td::data::transforms::Resize(0); }},
      {"a probability above one", {"1.5"}, "between 0 and 1", [] { (void)td::data::transforms::RandomHorizontalFlip(1.5); }},
      {"classes below one", {"0"}, "positive", [] { (void)td::train::ConfusionMatrix({.num_classes = 0}); }},
      {"a layer that is not there", {"3", "1"}, "out of range", [] { (void)td::nn::ModuleList(td::nn::ReLU()).at(3); }},
  };
}

std::vector<Mistake> files_and_processes() {
  return {
      {"no file", {"nothing.safetensors"}, "No such file", [] { (void)td::io::load_safetensors("nothing.safetensors"); }},
      {"a file of torch.save's that is cut off",
       {"x.pt"},
       "cut off",
       [] {
         td::nn::Linear net(2, 2);
         td::load("x.pt", net);
       }},
      {"an old file of torch.save's", {"PyTorch file"}, "load_torch", [] { (void)td::io::load_safetensors("old.pt"); }},
      {"a .npy file", {".npy"}, "load_npy", [] { (void)td::io::load_safetensors("x.npy"); }},
      {"no .npy file", {"x.pt"}, "load_torch", [] { (void)td::io::load_npy("x.pt"); }},
      {"a text as a checkpoint",
       {"text.safetensors"},
       "not a safetensors file",
       [] {
         write_file("text.safetensors", "this is no file of that kind");
         (void)td::io::load_safetensors("text.safetensors");
       }},
      {"event files where no folder can be", {"/proc/nothing"}, "make the folder", [] { td::train::SummaryWriter("/proc/nothing"); }},
      {"a folder that is not there",
       {"nowhere/x"},
       "there is no folder nowhere: make it first",
       [] {
         td::io::save_safetensors("nowhere/x", {{"a", a}});
       }},
      {"a folder that cannot be made",
       {"x.npy/x"},
       "x.npy is no folder: give another path",
       [] {
         td::io::save_safetensors("x.npy/x", {{"a", a}});
       }},
      {"no process group",
       {"[all_reduce]", "process group"},
       "call init_process_group first",
       [] { td::distributed::all_reduce(a.clone()); }},
      {"a back end's name", {"smoke"}, "there are", [] { td::distributed::init_process_group("smoke"); }},
      {"sharing a view",
       {"[2, 3]"},
       "clone()",
       [] {
         const td::Tensor x = a.clone(), view = x[0];
         x.share_memory_();
       }},
  };
}

void check(const std::vector<Mistake>& mistakes) {
  write_file("x.pt", std::string("PK\x03\x04\x00\x00\x08\x08\x00\x00", 10) + std::string(100, 'x'));
  write_file("old.pt", std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15) + std::string(100, 'x'));
  write_file("x.npy", std::string("\x93NUMPY\x01\x00", 8) + std::string(100, 'x'));
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.name);
    try {
      mistake.make();
      ADD_FAILURE() << "no error";
    } catch (const td::Error& error) {
      const std::string text = error.what();
      std::cout << mistake.name << "\n    " << text << "\n";
      size_t from = 0;
      for (const std::string& value : mistake.what) {
        from = text.find(value, from);
        EXPECT_NE(from, std::string::npos) << value << " in: " << text;
        if (from == std::string::npos) from = 0;
      }
      EXPECT_NE(text.find(mistake.advice), std::string::npos) << mistake.advice << " in: " << text;
      EXPECT_STREQ(error.where().file, __FILE__) << text;
      EXPECT_TRUE(row_at(error.where().line).starts_with(td::str("      {\"", mistake.name, '"'))) << text;
      const std::string place = td::str(error.where().file, ":", error.where().line);
      EXPECT_NE(text.find(place), std::string::npos) << place << " in: " << text;
    }
  }
}

TEST(Mistakes, Shapes) { check(shapes()); }
TEST(Mistakes, NumbersAndDevices) {
  auto mistakes = numbers_and_devices();
  if (!td::runtime::devices_are_virtual()) {
    // As many GPUs as there are, and as much memory as they have.
    std::erase_if(mistakes, [](const Mistake& each) {
      return each.name == std::string("a GPU that is not there") || each.name == std::string("more than a GPU has");
    });
  }
  check(mistakes);
}
TEST(Mistakes, IndicesAndTargets) { check(indices_and_targets()); }
TEST(Mistakes, Gradients) { check(gradients()); }
TEST(Mistakes, ModulesAndTraining) { check(modules_and_training()); }
TEST(Mistakes, DatasetsAndPictures) { check(datasets_and_pictures()); }
TEST(Mistakes, FilesAndProcesses) { check(files_and_processes()); }

}  // namespace
