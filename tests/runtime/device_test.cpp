// Names of devices to the letter, counting and choosing GPUs, guards.
#include "runtime/device.h"

#include <sstream>
#include <stdexcept>
#include <thread>

#include "expect_error.h"
#include "process_gpus.h"

namespace tandem::testing {
namespace {

TEST(Device, IsReadFromItsName) {
  EXPECT_EQ(Device("cpu"), cpu());
  EXPECT_EQ(Device("cpu:0"), cpu());
  EXPECT_EQ(Device("cuda:1"), gpu(1));
  EXPECT_EQ(Device(std::string("cuda:0")), gpu(0));
  EXPECT_EQ(Device("cuda:127").index(), 127);
  EXPECT_EQ(Device("cuda").type(), DeviceType::CUDA);
  EXPECT_EQ(Device("cuda").index(), -1);
  EXPECT_NE(Device("cuda"), Device("cuda:0"));
  EXPECT_EQ(Device(), cpu());
  EXPECT_EQ(Device(DeviceType::CPU, 3), cpu());
}

TEST(Device, WrongNamesAreErrorsToTheLetter) {
  const auto text = [](const char* name) -> std::string {
    try {
      (void)Device(name);
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  };
  EXPECT_EQ(text(""), "Device string must not be empty: expected 'cpu', 'cuda' or 'cuda:1'");
  for (const char* name :
       {"cuda:", "cuda:-1", "cuda:01", ":0", "cuda 0", " cuda", "cuda:0 ", "cuda:1x", "cuda::1", "cuda1", ":", "cpu:", "foo:", "cuda:00"})
    EXPECT_EQ(text(name), std::string("Invalid device string: '") + name + "': expected 'cpu', 'cuda' or 'cuda:1'");
  EXPECT_EQ(text("foo"), "Expected one of cpu, cuda device type at start of device string: foo; write 'cpu', 'cuda' or 'cuda:1'");
  EXPECT_EQ(text("CUDA"), "Expected one of cpu, cuda device type at start of device string: CUDA; write 'cpu', 'cuda' or 'cuda:1'");
  EXPECT_EQ(text("cpu:1"), "CPU device index must be -1 or zero, got 1");
  for (const char* name : {"cuda:128", "cuda:256", "cuda:99999999999999999999"})
    EXPECT_EQ(text(name), std::string("Invalid device string: '") + name + "': the index must be at most 127");
}

TEST(Device, IsShownAsPyTorchShowsIt) {
  std::ostringstream out;
  out << cpu() << ' ' << gpu(0) << ' ' << Device("cuda");
  EXPECT_EQ(out.str(), "cpu cuda:0 cuda");
  EXPECT_EQ(gpu(1).repr(), "device(type='cuda', index=1)");
  EXPECT_EQ(cpu().repr(), "device(type='cpu')");
  EXPECT_EQ(Device("cuda").repr(), "device(type='cuda')");
  EXPECT_EQ(str("on ", gpu(3)), "on cuda:3");
}

struct TwoGpus : ProcessGpus {};

TEST_F(TwoGpus, AreCountedAndChosen) {
  const int count = num_gpus();
  EXPECT_TRUE(cuda::is_available());
  EXPECT_EQ(cuda::device_count(), count);
  EXPECT_EQ(try_gpu(), gpu(0));
  EXPECT_EQ(try_gpu(1), gpu(1));
  EXPECT_EQ(try_gpu(count), cpu());
  EXPECT_EQ(try_gpu(-1), cpu());
  const auto all = try_all_gpus();
  ASSERT_EQ(all.size(), static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) EXPECT_EQ(all[static_cast<size_t>(i)], gpu(i));
}

TEST_F(TwoGpus, DescribeThemselvesAsVirtual) {
  const auto& properties = cuda::get_device_properties(0);
  EXPECT_TRUE(properties.is_virtual);
  EXPECT_NE(properties.name.find("virtual"), std::string::npos);
  EXPECT_GE(properties.multi_processor_count, 1);
  EXPECT_EQ(properties.major, 0);
  EXPECT_EQ(cuda::get_device_name(1), cuda::get_device_properties(1).name);
  EXPECT_NE(properties.uuid, cuda::get_device_properties(1).uuid);
  EXPECT_EQ(&cuda::get_device_properties(), &properties);
  const auto [free_bytes, total_bytes] = cuda::mem_get_info(0);
  EXPECT_EQ(total_bytes, properties.total_memory);
  EXPECT_LE(free_bytes, total_bytes);
  EXPECT_FALSE(cuda::can_device_access_peer(0, 0));
}

TEST_F(TwoGpus, GuardsNestAndRestore) {
  EXPECT_EQ(cuda::current_device(), 0);
  {
    const cuda::DeviceGuard guard(1);
    EXPECT_EQ(cuda::current_device(), 1);
    EXPECT_EQ(tandem::detail::resolve(Device("cuda")), gpu(1));
    try {
      const cuda::DeviceGuard inner(gpu(0));
      EXPECT_EQ(cuda::current_device(), 0);
      throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(cuda::current_device(), 1);
    const cuda::DeviceGuard for_cpu(cpu());
    EXPECT_EQ(cuda::current_device(), 1);
    const cuda::DeviceGuard same{Device("cuda")};
    EXPECT_EQ(cuda::current_device(), 1);
    std::thread([] { EXPECT_EQ(cuda::current_device(), 0); }).join();
  }
  EXPECT_EQ(cuda::current_device(), 0);
  cuda::set_device(gpu(1));
  EXPECT_EQ(cuda::current_device(), 1);
  cuda::set_device(0);
}

TEST_F(TwoGpus, ThatDoNotExistAreErrorsThatSaySo) {
  EXPECT_ERROR(cuda::set_device(77), Error, "cuda:77: there is no such GPU");
  EXPECT_ERROR(cuda::set_device(-1), Error, "-1");
  EXPECT_ERROR(cuda::set_device(cpu()), Error, "[set_device] expected a cuda device, but got: cpu");
  EXPECT_ERROR(cuda::DeviceGuard(77), Error, "cuda:77");
  EXPECT_ERROR(tandem::detail::resolve(gpu(77)), Error, "cuda:77");
  EXPECT_ERROR(cuda::get_device_properties(77), Error, "cuda:77");
  EXPECT_ERROR(cuda::mem_get_info(cpu()), Error, "[mem_get_info]");
  EXPECT_ERROR(cuda::synchronize(cpu()), Error, "[synchronize]");
  EXPECT_ERROR(cuda::can_device_access_peer(0, 77), Error, "cuda:77");
  EXPECT_EQ(cuda::current_device(), 0);
  EXPECT_EQ(tandem::detail::resolve(cpu()), cpu());
}

TEST_F(TwoGpus, CannotBeChosenAgainAfterFirstUse) {
  EXPECT_ERROR(cuda::use_virtual_gpus("3"), Error, "before the first use");
  EXPECT_ERROR(cuda::use_virtual_gpus("3y"), Error, "COUNT[xMEMORY]");
}

}  // namespace
}  // namespace tandem::testing
