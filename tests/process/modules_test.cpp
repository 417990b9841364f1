// Modules in other processes: layers, containers and models arrive as they were, whatever their constructors were given.
#include <random>

#include "models/models.h"
#include "support.h"
#include "support/every_module.h"
#include "support/on_device.h"

namespace tandem::testing {
namespace {

/// What another process would get.
template <class M>
M arrived(const M& module) {
  mp::detail::Parcel parcel("test");
  mp::Codec<M>::put(parcel, module);
  mp::detail::Message message = parcel.finish();
  std::vector<Descriptor> files;
  for (const mp::detail::Attached& attached : message.files) files.emplace_back(dup(attached.file));
  mp::detail::Received received(std::move(message.bytes), std::move(files), "test");
  M copy = mp::Codec<M>::take(received);
  received.finish();
  return copy;
}

template <class M>
void expect_same(const M& copy, const M& module) {
  EXPECT_EQ(nn::to_string(copy), nn::to_string(module));
  const auto own = copy.named_parameters(), sent = module.named_parameters();
  ASSERT_EQ(own.size(), sent.size()) << nn::to_string(module);
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(own[i].first, sent[i].first);
    EXPECT_TRUE(equal(own[i].second, sent[i].second)) << own[i].first;
    EXPECT_EQ(own[i].second.requires_grad(), sent[i].second.requires_grad()) << own[i].first;
    EXPECT_TRUE(own[i].second.is_leaf());
  }
}

TEST(SentModules, AreEveryModuleWithParameters) {
  int count = 0;
  every_module([&]<class M>(const M& made, const Tensor& x, auto... given) {
    ++count;
    M module = made;
    SCOPED_TRACE(module.name());
    const auto output = [&](M& m) {
      manual_seed(3);
      if constexpr (sizeof...(given) > 0) return (given(m, x), ...);
      else return static_cast<nn::Module&>(m)(x);
    };
    if (module.has_uninitialized_params()) {
      M lazy = arrived(module);
      EXPECT_TRUE(lazy.has_uninitialized_params());
      lazy.eval();
      (void)output(lazy);
      module.eval();
      const Tensor y = output(module);
      EXPECT_EQ(lazy.num_parameters(), module.num_parameters());
      EXPECT_EQ(output(lazy).sizes(), y.sizes());
      module.train();
    }
    M copy = arrived(module);
    expect_same(copy, module);
    EXPECT_TRUE(equal(output(copy), output(module))) << "training";
    copy = arrived(module);  // with the running figures of the one before
    module.eval();
    copy.eval();
    EXPECT_TRUE(equal(output(copy), output(module))) << "evaluation";
  });
  EXPECT_EQ(count, 48);
}

TEST(SentModules, AreLayersWithOtherSettingsThanTheirDefaults) {
  manual_seed(5);
  const Tensor rows = randn({4, 8}), one = randn({2, 4, 8}), two = randn({2, 4, 8, 8}), three = randn({1, 2, 4, 4, 4});
  const auto check = [](const auto& made, const auto&... inputs) {
    auto module = made;
    SCOPED_TRACE(nn::to_string(module));
    auto copy = arrived(module);
    expect_same(copy, module);
    if constexpr (sizeof...(inputs) > 0) {
      const auto output = [&](auto& m) {
        manual_seed(3);
        return m(inputs...);
      };
      EXPECT_TRUE(equal(output(copy), output(module)));
    }
  };
  check(nn::ReLU(true), rows.clone());
  check(nn::Hardsigmoid(true), rows.clone());
  check(nn::Tanh(), rows);
  check(nn::ELU(0.3), rows);
  check(nn::CELU(0.3), rows);
  check(nn::GELU("tanh"), rows);
  check(nn::GLU(0), rows);
  check(nn::Hardshrink(0.1), rows);
  check(nn::Softshrink(0.1), rows);
  check(nn::Hardtanh(-0.2, 0.3), rows);
  check(nn::LeakyReLU(0.3), rows);
  check(nn::RReLU(0.2, 0.4), rows);
  check(nn::Softplus(2, 3), rows);
  check(nn::Threshold(0.5, -7), rows);
  check(nn::Threshold(1, true), rows);
  check(nn::Softmax(0), rows);
  check(nn::Softmax(), rows);
  check(nn::Dropout(0.25), rows);
  check(nn::AlphaDropout(0.75), rows);
  check(nn::Flatten(1, 2), two);
  check(nn::Unflatten(1, {2, 4}), rows);
  check(nn::PixelShuffle(2), two);
  check(nn::PixelUnshuffle(2), two);
  check(nn::ChannelShuffle(2), two);
  check(nn::Unfold({2, 3}, {.dilation = 2, .padding = 1, .stride = 2}), two);
  check(nn::Fold({4, 5}, {2, 2}), randn({1, 8, 12}));
  check(nn::ZeroPad2d({1, 2, 0, 3}), two);
  check(nn::ReflectionPad2d(2), two);
  check(nn::CircularPad1d(2), one);
  check(nn::ConstantPad3d(1, 3.5), three);
  check(nn::MaxPool2d(3, {.stride = 2, .padding = 1, .ceil_mode = true}), two);
  check(nn::AvgPool2d({2, 3}, {.stride = 1, .count_include_pad = false, .divisor_override = 5}), two);
  check(nn::AdaptiveAvgPool2d({3, std::nullopt}), two);
  check(nn::AdaptiveMaxPool1d(3), one);
  check(nn::LPPool2d(2, 3, {.stride = 2}), two);
  check(nn::MaxUnpool2d(2, {.stride = 2}));
  check(nn::FractionalMaxPool2d({2, 3}, {.output_size = 3}), two);
  check(nn::FractionalMaxPool3d(2, {.output_ratio = {{0.5, 0.5, 0.75}}}), three);
  check(nn::FractionalMaxPool2d(2, {.output_size = 3, .random_samples = rand({2, 4, 2})}), two);
  check(nn::LocalResponseNorm(3, 0.1, 0.5, 2), two);
  check(nn::Upsample({.scale_factor = {{2}}, .mode = "bilinear", .align_corners = true}), two);
  check(nn::UpsamplingNearest2d({.size = {{5, 7}}}), two);
  check(nn::CosineSimilarity(0, 0.1), rows, rows * 2);
  check(nn::PairwiseDistance(1, 0.1, true), rows, rows * 2);
  check(nn::CrossEntropyLoss({.weight = ones({8}), .ignore_index = 2, .reduction = Reduction::Sum, .label_smoothing = 0.1}), rows,
        tensor({1, 2, 3, 4}));
  check(nn::HuberLoss({.delta = 0.2}), rows, rows * 2);
  check(nn::SmoothL1Loss({.reduction = Reduction::Sum, .beta = 0.2}), rows, rows * 2);
  check(nn::MultiMarginLoss({.p = 2, .margin = 0.3}), rows, tensor({1, 2, 3, 4}));
  check(nn::TripletMarginLoss({.margin = 0.3, .p = 1}), rows, rows * 2, rows * 3);
  check(nn::TripletMarginWithDistanceLoss({.margin = 0.3, .swap = true}), rows, rows * 2, rows * 3);
  check(nn::CTCLoss({.blank = 3, .zero_infinity = true}));
  check(nn::Linear(8, 3, {.bias = false}), rows);
  check(nn::Linear(8, 3, {.dtype = kFloat64}), rows.to(kFloat64));
  check(nn::Conv1d(4, 2, 3, {.padding = "same", .dilation = 2, .padding_mode = "reflect"}), one);
  check(nn::Conv2d(4, 4, {2, 3}, {.stride = {2, 1}, .padding = "valid", .groups = 2, .bias = false}), two);
  check(nn::ConvTranspose2d(4, 2, 3, {.stride = 2, .output_padding = 1}), two);
  check(nn::BatchNorm2d(4, {.eps = 0.1, .momentum = std::nullopt, .affine = false}), two);
  check(nn::BatchNorm2d(4, {.track_running_stats = false, .bias = false}), two);
  check(nn::GroupNorm(2, 4, {.eps = 0.1, .affine = false}), two);
  check(nn::LayerNorm({8, 8}, {.eps = 0.1, .bias = false}), two);
  check(nn::RMSNorm({8}, {.eps = 0.1}), two);
  check(nn::Embedding(9, 4, {.padding_idx = 2, .max_norm = 0.5, .norm_type = 1, .scale_grad_by_freq = true}), tensor({1, 2, 3}));
  check(nn::EmbeddingBag(9, 4, {.mode = "sum", .padding_idx = 2}), tensor({{1, 2, 3}}));
  check(nn::Bilinear(8, 8, 3, {.bias = false}), rows, rows * 2);
  manual_seed(2);
  nn::RNN rnn(8, 3, {.num_layers = 3, .nonlinearity = "relu", .bias = false, .bidirectional = true});
  nn::RNN sent = arrived(rnn);
  expect_same(sent, rnn);
  EXPECT_TRUE(equal(sent(one).output, rnn(one).output));
  nn::RNNCell cell(8, 3, {.nonlinearity = "relu"});
  nn::RNNCell sent_cell = arrived(cell);
  EXPECT_TRUE(equal(sent_cell(rows), cell(rows)));
  nn::MultiheadAttention attention(8, 2, {.dropout = 0.5, .bias = false, .add_bias_kv = true, .add_zero_attn = true, .kdim = 4, .vdim = 6});
  nn::MultiheadAttention sent_attention = arrived(attention);
  expect_same(sent_attention, attention);
  EXPECT_EQ(sent_attention.dropout, 0.5);
  EXPECT_EQ(sent_attention.kdim, 4);
  EXPECT_TRUE(sent_attention.add_zero_attn);
}

TEST(SentModules, AreContainersAndModels) {
  manual_seed(5);
  const nn::ModuleList list(nn::Linear(4, 3), nn::LSTM(2, 3), nn::Sequential(nn::Conv2d(1, 2, 3), nn::ReLU()));
  expect_same(arrived(list), list);
  const nn::ModuleDict heads{{"b", nn::Linear(2, 5)}, {"a", nn::ModuleList(nn::Dropout(0.1), nn::PReLU(3))}};
  const nn::ModuleDict sent_heads = arrived(heads);
  expect_same(sent_heads, heads);
  EXPECT_EQ(sent_heads.keys(), (std::vector<std::string>{"b", "a"}));
  expect_same(arrived(nn::Sequential()), nn::Sequential());
  const nn::ParameterList weights{randn({2, 3}), randn({})};
  expect_same(arrived(weights), weights);
  const nn::ParameterDict named{{"b", randn({2})}, {"a", randn({3})}};
  const nn::ParameterDict sent_named = arrived(named);
  expect_same(sent_named, named);
  EXPECT_EQ(sent_named.keys(), (std::vector<std::string>{"b", "a"}));
  const nn::AnyModule any = nn::Sequential(nn::Linear(4, 7), nn::Tanh());
  EXPECT_EQ(nn::to_string(arrived(any).base()), nn::to_string(any.base()));
  EXPECT_FALSE(arrived(nn::AnyModule()));
  models::ResNet resnet = models::resnet18({.num_classes = 3, .in_channels = 1});
  models::ResNet sent = arrived(resnet);
  expect_same(sent, resnet);
  resnet.eval();
  EXPECT_TRUE(sent.training());
  sent = arrived(resnet);
  EXPECT_FALSE(sent.training() || sent.bn1.training());
  const Tensor picture = randn({1, 1, 32, 32});
  EXPECT_TRUE(equal(sent(picture), resnet(picture)));
  const models::DenseNet densenet({.num_classes = 3, .growth_rate = 4, .block_config = {1, 2, 1, 1}, .num_init_features = 8});
  expect_same(arrived(densenet), densenet);
  const models::TextGru text({.vocabulary = 20, .embedding = 3, .hidden = 5});
  expect_same(arrived(text), text);
  const nn::Sequential d2l = models::d2l_resnet18();
  expect_same(arrived(d2l), d2l);
  // Sequential's pairs that run as one are found again.
  const nn::Sequential pair(nn::Linear(2, 3), nn::ReLU());
  EXPECT_TRUE(arrived(pair).runs_with_next(0));
}

/// Its last layer's weight is its embedding's.
struct Tied : nn::Module {
  nn::Embedding embedding{7, 3};
  nn::Linear output{3, 7, {.bias = false}};
  explicit Tied(bool tied = true) {
    if (tied) output.weight = embedding.weight;
  }
  void fields(nn::Fields& f) override {
    f("embedding", embedding);
    f("output", output);
  }
  Tensor forward(const Tensor& x) override { return output(embedding(x)); }
};

TEST(SentModules, KeepTheirTiesAndMakeNoOthers) {
  Tied tied = arrived(Tied());
  EXPECT_TRUE(tied.output.weight.is_same(tied.embedding.weight));
  EXPECT_EQ(tied.parameters().size(), 1U);
  Tied loose = arrived(Tied(false));
  EXPECT_FALSE(loose.output.weight.is_same(loose.embedding.weight));
  EXPECT_EQ(loose.parameters().size(), 2U);
  // The same where nobody's constructor ties them: one layer, twice.
  const nn::Linear layer(3, 3);
  const nn::Sequential twice(layer, nn::ReLU(), layer);
  nn::Sequential sent = arrived(twice);
  EXPECT_EQ(sent.parameters().size(), 2U);
  sent(randn({2, 3})).sum().backward();
  EXPECT_TRUE(sent.at<nn::Linear>(2).weight.grad().is_same(sent.at<nn::Linear>(0).weight.grad()));
}

/// Made with numbers that it has to know.
struct Described : nn::Module {
  int64_t width, depth;
  std::string kind = "plain";
  nn::ModuleList layers;
  Described(int64_t width_, int64_t depth_) : width(width_), depth(depth_) {
    for (int64_t i = 0; i < depth; ++i) layers.append(nn::Linear(width, width));
  }
  void fields(nn::Fields& f) override { f("layers", layers); }
  void settings(nn::Settings& s) override { s(width, depth, kind); }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (nn::Module& layer : layers) y = layer(y);
    return y.view({-1, width});
  }
};
/// Names nothing, so that its default constructor has to make the same.
struct Undescribed : nn::Module {
  int64_t width;
  nn::Sequential layers;
  explicit Undescribed(int64_t width_ = 3) : width(width_), layers(nn::Linear(2, width_), nn::ReLU()) {}
  void fields(nn::Fields& f) override { f("layers", layers); }
  Tensor forward(const Tensor& x) override { return layers(x).view({-1, width}); }
};
/// Nobody can make it without knowing how.
struct Closed : nn::Module {
  std::string text;
  explicit Closed(std::string text_) : text(std::move(text_)) {}
  Tensor forward(const Tensor& x) override { return x; }
};

TEST(SentModules, OfOnesOwnTypeNameWhatTheyWereMadeWith) {
  Described module(5, 3);
  module.kind = "other";
  Described sent = arrived(module);
  EXPECT_EQ(sent.width, 5);
  EXPECT_EQ(sent.depth, 3);
  EXPECT_EQ(sent.kind, "other");
  const Tensor x = randn({2, 5});
  EXPECT_TRUE(equal(sent(x), module(x)));
  const Undescribed same;
  expect_same(arrived(same), same);
  expect_error<Error>(
      [] { (void)arrived(Undescribed(4)); },
      "[test] layers.0.bias of the Undescribed that was sent is of size [4], of the one made here of size [3]: in the other "
      "process it is made by its default constructor");
  // Also somewhere below, where the layers around it can be sent.
  expect_error<Error>([] { (void)arrived(nn::Sequential(nn::ReLU(), Undescribed(4))); }, "override settings()");
  const nn::Sequential closed{Closed("a")};
  expect_error<Error>([&] { (void)arrived(closed); }, "a module of type Closed cannot be sent to another process");
  nn::TransformerEncoderLayer layer(4, 2, {.activation = [](const Tensor& in) { return in * 2; }});
  expect_error<Error>([&] { (void)arrived(layer); }, "the activation of a TransformerEncoderLayer is a function or module of its own");
}

// Whatever is changed on the way: an error, or a module whose tensors lie in the memory that came along.
TEST(SentModules, AreNotBelieved) {
  const nn::Sequential net(nn::Linear(2, 3), nn::ReLU(), nn::Sequential(nn::LSTM(2, 3, {.num_layers = 2}), nn::LazyConv2d(2, 3)));
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    mp::detail::Parcel parcel("test");
    mp::Codec<nn::Sequential>::put(parcel, net);
    mp::detail::Message message = parcel.finish();
    ASSERT_TRUE(message.files.empty());
    for (int change = 0; change <= round % 3; ++change) {
      char& byte = message.bytes[random() % message.bytes.size()];
      byte = static_cast<char>(random() % 4 ? static_cast<unsigned>(byte) ^ (1U << random() % 8) : random());
    }
    if (round % 10 == 0) message.bytes.resize(random() % message.bytes.size());
    try {
      mp::detail::Received received(std::move(message.bytes), {}, "test");
      nn::Sequential copy = mp::Codec<nn::Sequential>::take(received);
      received.finish();
      for (const auto& [name, tensor] : copy.state_dict()) (void)tensor.sum();
    } catch (const std::exception&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

void train(int rank, nn::Sequential net) {
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  manual_seed(10 + rank);
  for (int step = 0; step < 3; ++step) {
    sgd.zero_grad();
    net(randn({4, 3}, net.parameters()[0].device())).sum().backward();
    sgd.step();
  }
}
void describes(std::vector<nn::AnyModule> modules, mp::Queue<std::string> texts, mp::Event go) {
  for (const nn::AnyModule& module : modules) {
    std::string text = nn::to_string(module.base());
    for (const auto& [name, tensor] : module.base().state_dict()) text += str(name, tensor.to(kFloat64).sum().item<double>());
    texts.put(text);
  }
  go.wait();
}

TEST(SentModules, AreTrainedInOtherProcesses) {
  manual_seed(1);
  nn::Sequential net(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  const nn::Sequential before = nn::clone(net);
  mp::spawn(train, 2, net);  // copies
  EXPECT_TRUE(equal(net.at<nn::Linear>(0).weight, before.at<nn::Linear>(0).weight));
  net.share_memory();
  mp::spawn(train, 2, net);
  EXPECT_FALSE(equal(net.at<nn::Linear>(0).weight, before.at<nn::Linear>(0).weight));
}

TEST(SentModules, AreEveryModuleInAnotherProcess) {
  std::vector<nn::AnyModule> modules;
  every_module([&]<class M>(const M& module, const Tensor&, auto...) { modules.emplace_back(module); });
  modules.emplace_back(models::resnet18({.num_classes = 3, .in_channels = 1}));
  mp::Queue<std::string> texts;
  mp::Event go;
  mp::Process process(describes, modules, texts, go);
  process.start();
  for (const nn::AnyModule& module : modules) {
    std::string text = nn::to_string(module.base());
    for (const auto& [name, tensor] : module.base().state_dict()) text += str(name, tensor.to(kFloat64).sum().item<double>());
    EXPECT_EQ(texts.get(kLong), text);
  }
  go.set();
  process.join();
  EXPECT_EQ(process.exitcode(), 0);
}

TEST(SentModules, OnAGpuAreTheSame) {
  manual_seed(1);
  nn::Sequential net(nn::Linear(3, 4), nn::ReLU(), nn::LazyLinear(2));
  net.to(gpu(0));
  net(randn({2, 3}, gpu(0)));
  const Tensor before = net.at<nn::Linear>(0).weight.clone();
  mp::spawn(train, 1, net);
  EXPECT_EQ(before.device(), Device(gpu(0)));
}

}  // namespace
}  // namespace tandem::testing
