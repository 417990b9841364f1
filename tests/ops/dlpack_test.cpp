// Memory shared with other libraries by DLPack, both ways.
#include "ops/dlpack.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/warning.h"
#include "ops/dlpack_layout.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

/// What another library gives: its struct, and how often its deleter was called.
struct Producer {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> sizes = {2, 3}, strides = {3, 1};
  std::atomic<int> ended{0};
  td::dlpack::Managed managed{};
  td::dlpack::ManagedVersioned versioned{};

  Producer() {
    const td::dlpack::View view{values.data(), {td::dlpack::kCpu, 0}, 2, {td::dlpack::kFloat, 32, 1}, sizes.data(), strides.data(), 0};
    managed.view = versioned.view = view;
    managed.context = versioned.context = this;
    managed.deleter = [](DLManagedTensor* done) { ++static_cast<Producer*>(td::dlpack::layout_of(done)->context)->ended; };
    versioned.version = {1, 0};
    versioned.deleter = [](DLManagedTensorVersioned* done) { ++static_cast<Producer*>(td::dlpack::layout_of(done)->context)->ended; };
  }
  td::Tensor take() { return td::from_dlpack(reinterpret_cast<DLManagedTensor*>(&managed)); }
  td::Tensor take_versioned() { return td::from_dlpack(reinterpret_cast<DLManagedTensorVersioned*>(&versioned)); }
  /// What is said to a struct that differs from a good one in what `change` did.
  template <class Change>
  static std::string refused(const Change& change) {
    Producer producer;
    change(producer.managed.view);
    change(producer.versioned.view);
    const std::string error = error_of([&] { (void)producer.take(); });
    EXPECT_EQ(error, error_of([&] { (void)producer.take_versioned(); }));
    EXPECT_EQ(producer.ended, 0) << "what was refused is still the producer's";
    return error;
  }
};

/// A consumer's use of a struct: it gives it to a tensor of its own.
td::Tensor through(const td::Tensor& x, bool versioned) {
  return versioned ? td::from_dlpack(td::to_dlpack_versioned(x)) : td::from_dlpack(td::to_dlpack(x));
}

TEST(DLPack, SharesEveryDtypeBothWays) {
  for (int i = 0; i < td::kDTypes; ++i)
    for (const bool versioned : {false, true}) {
      const auto x = td::tensor({{1, 0, 1}, {1, 1, 0}}).to(static_cast<td::DType>(i));
      const auto y = through(x.t(), versioned);
      EXPECT_EQ(y.dtype(), x.dtype());
      EXPECT_EQ(y.sizes(), (td::Shape{3, 2}));
      EXPECT_EQ(y.strides(), (td::Shape{1, 3}));
      EXPECT_EQ(y.data_ptr(), x.data_ptr());
      EXPECT_TRUE(td::equal(y, x.t()));
    }
}

TEST(DLPack, SaysWhatATensorIs) {
  const auto x = td::arange(24, {.dtype = td::kInt16}).view({2, 3, 4}).select(1, 1);
  DLManagedTensorVersioned* const managed = td::to_dlpack_versioned(x);
  const auto& layout = *td::dlpack::layout_of(managed);
  EXPECT_EQ(layout.version.major, 1u);
  EXPECT_EQ(layout.version.minor, 1u);
  EXPECT_EQ(layout.flags, 0u);
  EXPECT_EQ(static_cast<char*>(layout.view.data) + layout.view.byte_offset, x.data_ptr());
  EXPECT_EQ(layout.view.device.kind, td::dlpack::kCpu);
  EXPECT_EQ(layout.view.device.index, 0);
  EXPECT_EQ(std::vector<int64_t>(layout.view.sizes, layout.view.sizes + 2), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(std::vector<int64_t>(layout.view.strides, layout.view.strides + 2), (std::vector<int64_t>{12, 1}));
  EXPECT_EQ(layout.view.type.kind, td::dlpack::kInt);
  EXPECT_EQ(layout.view.type.bits, 16);
  EXPECT_EQ(layout.view.type.lanes, 1);
  layout.deleter(managed);
}

TEST(DLPack, KeepsTheMemoryOfAViewUntilTheDeleterIsCalled) {
  std::vector<float> values = {1, 2, 3, 4};
  int ended = 0;
  auto whole = td::from_blob(values.data(), {2, 2}, [&](void*) { ++ended; });
  DLManagedTensor* const managed = td::to_dlpack(whole[1]);
  whole = {};
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(static_cast<float*>(td::dlpack::layout_of(managed)->view.data)[0], 3);
  std::thread([&] { td::dlpack::layout_of(managed)->deleter(managed); }).join();
  EXPECT_EQ(ended, 1);
}

TEST(DLPack, CallsADeleterOnceFromWhicheverThread) {
  for (const bool versioned : {false, true}) {
    Producer producer;
    auto x = versioned ? producer.take_versioned() : producer.take();
    auto view = x[1];
    EXPECT_EQ(x.sum().item<float>(), 21);
    x.fill_(2);
    EXPECT_EQ(producer.values[5], 2);
    x = {};
    EXPECT_EQ(producer.ended, 0);
    std::thread([last = std::exchange(view, {})] {}).join();
    EXPECT_EQ(producer.ended, 1);
  }
  Producer without;
  without.managed.deleter = nullptr;
  EXPECT_EQ(without.take().sum().item<float>(), 21);
  EXPECT_EQ(without.ended, 0);
}

TEST(DLPack, TakesDenseMemoryWithoutStridesAndAnOffset) {
  Producer producer;
  producer.managed.view.strides = nullptr;
  EXPECT_EQ(producer.take().strides(), (td::Shape{3, 1}));
  producer.sizes = {2, 2};
  producer.managed.view.sizes = producer.sizes.data();
  producer.managed.view.byte_offset = 2 * sizeof(float);
  const auto x = producer.take();
  EXPECT_EQ(x.data_ptr(), &producer.values[2]);
  EXPECT_EQ(x.sum().item<float>(), 18);
  producer.managed.view.device.kind = td::dlpack::kCudaHost;
  EXPECT_TRUE(producer.take().is_cpu());
}

TEST(DLPack, HasTensorsWithoutElementsAndWithoutDimensions) {
  DLManagedTensor* const managed = td::to_dlpack(td::zeros({4, 3}).slice(0, 2, 2));
  EXPECT_EQ(td::dlpack::layout_of(managed)->view.data, nullptr);
  EXPECT_EQ(td::from_dlpack(managed).sizes(), (td::Shape{0, 3}));
  EXPECT_EQ(through(td::tensor(2.5), true).item<float>(), 2.5);
  Producer producer;
  producer.sizes = {0, 3};
  producer.managed.view.data = nullptr;
  producer.managed.view.byte_offset = 8;
  EXPECT_EQ(producer.take().sum().item<float>(), 0);
  EXPECT_EQ(producer.ended, 1);
}

TEST(DLPack, RefusesWhatNoTensorCanBe) {
  using View = td::dlpack::View;
  EXPECT_EQ(Producer::refused([](View& view) { view.type.lanes = 4; }),
            "[from_dlpack] DLPack elements of 4 lanes have no dtype in tandem: give them a last dimension");
  EXPECT_EQ(Producer::refused([](View& view) {
              view.type = {5, 64, 1};
            }),
            "[from_dlpack] DLPack elements of code 5 with 64 bits have no dtype in tandem");
  EXPECT_EQ(Producer::refused([](View& view) {
              view.type = {td::dlpack::kUInt, 16, 1};
            }),
            "[from_dlpack] DLPack elements of code 1 with 16 bits have no dtype in tandem");
  EXPECT_EQ(Producer::refused([](View& view) { view.device.kind = 8; }),
            "[from_dlpack] DLPack memory of a device of type 8: tandem takes memory of the CPU and of CUDA GPUs");
  EXPECT_EQ(Producer::refused([](View& view) { view.dims = 13; }),
            "[from_dlpack] a DLPack tensor of 13 dimensions: a tensor can have 0 to 12");
  EXPECT_EQ(Producer::refused([](View& view) { view.dims = -1; }),
            "[from_dlpack] a DLPack tensor of -1 dimensions: a tensor can have 0 to 12");
  EXPECT_EQ(Producer::refused([](View& view) { view.sizes = nullptr; }),
            "[from_dlpack] a DLPack tensor of 2 dimensions that gives no sizes");
  EXPECT_EQ(Producer::refused([](View& view) { view.data = nullptr; }), "[from_dlpack] a DLPack tensor of sizes [2, 3] without memory");
  EXPECT_NE(Producer::refused([](View& view) {
              static int64_t reversed[] = {3, -1};
              view.strides = reversed;
            }).find("none of them can be negative"),
            std::string::npos);
  Producer later;
  later.versioned.version = {2, 3};
  EXPECT_EQ(error_of([&] { (void)later.take_versioned(); }), "[from_dlpack] DLPack of version 2.3: tandem reads version 1");
  EXPECT_EQ(later.ended, 0);
  later.versioned.version = {1, 9};
  EXPECT_EQ(later.take_versioned().numel(), 6);
}

TEST(DLPack, RefusesToGiveWhatMustNotBeSeen) {
  const auto leaf = td::ones({2}, {.requires_grad = true});
  EXPECT_EQ(error_of([&] { (void)td::to_dlpack(leaf); }), "[to_dlpack] Can't export tensors that require gradient, use tensor.detach()");
  EXPECT_EQ(error_of([&] { (void)td::to_dlpack_versioned(leaf * 2); }),
            "[to_dlpack_versioned] Can't export tensors that require gradient, use tensor.detach()");
  EXPECT_EQ(through(leaf.detach(), true).data_ptr(), leaf.data_ptr());
  EXPECT_EQ(error_of([&] { (void)td::to_dlpack(td::Tensor()); }).empty(), false);
  EXPECT_EQ(error_of([&] { (void)td::to_dlpack(leaf.detach(), {.read_only = true}); }),
            "[to_dlpack] only DLPack with a version can say that memory is read-only: call to_dlpack_versioned");
}

TEST(DLPack, KeepsTheMemoryOfVirtualGpus) {
  if (!td::cuda::is_available() || !td::cuda::get_device_properties(0).is_virtual) GTEST_SKIP() << "needs a virtual GPU";
  EXPECT_EQ(error_of([&] { (void)td::to_dlpack(td::ones({2}, "cuda:0")); }),
            "[to_dlpack] the memory of a virtual GPU is not for other libraries: call cpu() first");
  EXPECT_EQ(Producer::refused([](td::dlpack::View& view) {
              view.device = {td::dlpack::kCuda, 0};
            }),
            "[from_dlpack] DLPack memory of a CUDA GPU, but this program's GPUs are virtual ones");
}

TEST(DLPack, SharesTheMemoryOfRealGpus) {
  if (!td::cuda::is_available() || td::cuda::get_device_properties(0).is_virtual) GTEST_SKIP() << "needs a GPU that is not virtual";
  const auto x = td::arange(6, {.dtype = td::kFloat32, .device = td::gpu(0)}).view({2, 3});
  const auto y = through(x.t(), true);
  EXPECT_EQ(y.device(), td::gpu(0));
  EXPECT_EQ(y.data_ptr(), x.data_ptr());
  EXPECT_TRUE(td::equal(y, x.t()));
}

TEST(DLPack, HasTheFlagsOfCopiesAndOfReadOnlyMemory) {
  const auto x = td::ones({3});
  DLManagedTensorVersioned* const copied = td::to_dlpack_versioned(x, {.copy = true});
  EXPECT_EQ(td::dlpack::layout_of(copied)->flags, td::dlpack::kIsCopied);
  EXPECT_NE(td::from_dlpack(copied).data_ptr(), x.data_ptr());
  std::string warned;
  auto before = td::set_warning_handler([&](const std::string& text) { warned += text; });
  EXPECT_EQ(through(x, true).sum().item<float>(), 3);
  EXPECT_EQ(warned, "");
  DLManagedTensorVersioned* const fixed = td::to_dlpack_versioned(x, {.read_only = true});
  EXPECT_EQ(td::dlpack::layout_of(fixed)->flags, td::dlpack::kReadOnly);
  EXPECT_EQ(td::from_dlpack(fixed).data_ptr(), x.data_ptr());
  td::set_warning_handler(std::move(before));
  EXPECT_NE(warned.find("this memory is read-only"), std::string::npos);
}

}  // namespace
