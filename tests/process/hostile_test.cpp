// Messages that no parcel has made: errors, whatever is in them, and nothing outside of their memory is touched.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "process/shared_object.h"
#include "process/socket.h"
#include "support.h"

namespace tandem::testing {
namespace {

using namespace mp::detail;

const Deadline kAtOnce{std::chrono::nanoseconds(0)};

/// What arrives of `message`, sent as it is.
Received through(const Message& message) {
  auto [one, other] = socket_pair("test");
  Peers none;
  EXPECT_TRUE(send(one.get(), message, kAtOnce, none, "test"));
  return std::move(receive(other.get(), kAtOnce, none, "test").value());
}

Message message_of(const std::vector<Tensor>& tensors) {
  Parcel parcel("test");
  mp::Codec<std::vector<Tensor>>::put(parcel, tensors);
  return parcel.finish();
}

Descriptor file_of(size_t bytes, int seals) {
  Descriptor file(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

/// The place of `bytes` in the message.
template <class T>
size_t find(const Message& message, const T& value) {
  const auto* const bytes = reinterpret_cast<const char*>(&value);
  const auto at = std::search(message.bytes.begin(), message.bytes.end(), bytes, bytes + sizeof value);
  EXPECT_NE(at, message.bytes.end());
  return static_cast<size_t>(at - message.bytes.begin());
}

std::string error_with(const Message& message) {
  try {
    auto received = through(message);
    for (const Tensor& x : mp::Codec<std::vector<Tensor>>::take(received))
      if (x.defined()) (void)x.clone();
    received.finish();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Hostile, AnyByteMayBeWrong) {
  const auto shared = arange(1000).share_memory_();
  std::vector<Tensor> tensors{shared.slice(0, 10, 500, 3),
                              arange(12).view({3, 4}),
                              shared.view({10, 100}).t(),
                              zeros({2}, gpu(0)),
                              Tensor(),
                              full({3}, 1.5, {.requires_grad = true})};
  const Message good = message_of(tensors);
  EXPECT_EQ(error_with(good), "no error");
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    Message bad = good;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < changes; ++k) {
      const size_t at = random() % bad.bytes.size();
      bad.bytes[at] = static_cast<char>(random() % 4 == 0 ? 0xff : random() % 256);
    }
    if (random() % 8 == 0) bad.bytes.resize(random() % bad.bytes.size());
    if (random() % 8 == 0) bad.files.resize(random() % (bad.files.size() + 1));
    if (bad.bytes.empty()) continue;
    refused += error_with(bad) != "no error";
  }
  EXPECT_GT(refused, 1000);
}

TEST(Hostile, LayoutsOutsideOfTheMemory) {
  const auto x = zeros({7, 11}).share_memory_();
  const Message good = message_of({x});
  const auto with = [&](int64_t was, int64_t is) {
    Message bad = good;
    std::memcpy(bad.bytes.data() + find(bad, was), &is, sizeof is);
    return error_with(bad);
  };
  EXPECT_NE(with(7, 8).find("does not lie within"), std::string::npos);
  EXPECT_NE(with(7, -1).find("does not lie within"), std::string::npos);
  EXPECT_NE(with(7, int64_t{1} << 62).find("does not lie within"), std::string::npos);
  EXPECT_NE(with(11, std::numeric_limits<int64_t>::max()).find("does not lie within"), std::string::npos);
  EXPECT_EQ(with(7, 0), "no error");
  EXPECT_NE(with(308, 400).find("outside of a shared memory"), std::string::npos);  // bytes of the storage
}

TEST(Hostile, DtypesAndFlags) {
  Parcel parcel("test");
  parcel.put<uint8_t>(200);
  auto received = through(parcel.finish());
  expect_error<Error>([&] { (void)mp::Codec<DType>::take(received); }, "no dtype 200");
  Parcel device("test");
  device.put<int32_t>(-7);
  auto other = through(device.finish());
  expect_error<Error>([&] { (void)mp::Codec<Device>::take(other); }, "no device -7");
  const Message integers = message_of({arange(3)});
  Message bad = integers;
  // The flag stands behind the place and the dtype.
  const size_t at = find(bad, uint64_t{1}) + sizeof(uint64_t);
  bad.bytes[at + 2] = 1;
  EXPECT_NE(error_with(bad).find("requires a gradient"), std::string::npos);
}

TEST(Hostile, CountsThatCannotBe) {
  for (const uint64_t count : {uint64_t{1} << 40, ~uint64_t{0}}) {
    Parcel parcel("test");
    parcel.put(count);
    const Message message = parcel.finish();
    auto text = through(message), list = through(message), shape = through(message);
    expect_error<Error>([&] { (void)mp::Codec<std::string>::take(text); }, "are announced");
    expect_error<Error>([&] { (void)mp::Codec<std::vector<int>>::take(list); }, "are announced");
    expect_error<Error>([&] { (void)mp::Codec<Shape>::take(shape); }, "are announced");
  }
  Parcel parcel("test");
  parcel.put(1);
  auto received = through(parcel.finish());
  expect_error<Error>([&] { received.finish(); }, "left over");
  EXPECT_EQ(received.take<int>(), 1);
  expect_error<Error>([&] { (void)received.take<char>(); }, "too early");
}

TEST(Hostile, FilesThatAreNoSharedMemory) {
  constexpr int kRight = F_SEAL_GROW | F_SEAL_SHRINK;
  const auto opened = [](Descriptor file) { (void)runtime::SharedMemory::open(std::move(file)); };
  opened(file_of(4096, kRight));
  expect_error<Error>([&] { opened(file_of(4096, F_SEAL_GROW)); }, "no shared memory");
  expect_error<Error>([&] { opened(file_of(4096, F_SEAL_SHRINK)); }, "no shared memory");
  expect_error<Error>([&] { opened(file_of(4096, kRight | F_SEAL_WRITE)); }, "no shared memory");
  expect_error<Error>([&] { opened(file_of(0, kRight)); }, "no shared memory");
  expect_error<Error>([&] { opened(Descriptor(open("/dev/zero", O_RDWR | O_CLOEXEC))); }, "no shared memory");
  expect_error<Error>([&] { opened(Descriptor(dup(0))); }, "no shared memory");
  // Its own memory cannot be cut down any more.
  const auto memory = runtime::SharedMemory::create(4096);
  EXPECT_NE(ftruncate(memory->file(), 0), 0);
  EXPECT_NE(ftruncate(memory->file(), 8192), 0);
}

TEST(Hostile, SmallMemoryForLargeThings) {
  Parcel parcel("test");
  const auto memory = runtime::SharedMemory::create(8);
  parcel.put<int64_t>(1000);
  parcel.put_memory(memory);
  const Message message = parcel.finish();
  auto array = through(message);
  expect_error<Error>([&] { (void)mp::Codec<mp::Array<double>>::take(array); }, "1000 numbers are announced");
  Parcel lock("test");
  lock.put_memory(memory);
  auto received = through(lock.finish());
  expect_error<Error>([&] { (void)mp::Codec<mp::Lock>::take(received); }, "too small");
}

TEST(Hostile, DescriptorsOfOtherKinds) {
  const auto null = std::make_shared<Descriptor>(open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto take = [&](auto codec) {
    Parcel parcel("test");
    for (int i = 0; i < 3; ++i) parcel.put_file(null->get(), null);
    auto received = through(parcel.finish());
    expect_error<Error>([&] { (void)decltype(codec)::take(received); }, "does not fit");
  };
  take(mp::Codec<mp::Connection<int>>());
  take(mp::Codec<mp::Queue<int>>());
  take(mp::Codec<mp::Event>());
  take(mp::Codec<mp::Semaphore>());
  Parcel none("test");
  none.put<uint32_t>(5);
  auto received = through(none.finish());
  expect_error<Error>([&] { (void)received.take_file(); }, "no descriptor 5");
}

TEST(Hostile, BytesOfSomebodyElse) {
  auto [one, other] = socket_pair("test");
  Peers none;
  for (const std::string& text : {std::string("hello"), std::string(300, 'x'), std::string(70'000, 'y')}) {
    ASSERT_EQ(::send(one.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    expect_error<Error>([&, &end = other] { (void)receive(end.get(), kAtOnce, none, "test"); }, "does not fit");
  }
  Message large = message_of({zeros({100'000})});
  large.files.clear();
  expect_error<Error>([&] { (void)through(large); }, "does not fit");
}

}  // namespace
}  // namespace tandem::testing
