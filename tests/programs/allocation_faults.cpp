// env: TANDEM_VIRTUAL_GPUS=1x4MiB GLIBC_TUNABLES=glibc.malloc.tcache_count=0
// Memory runs out at the n-th allocation, for every n until the work succeeds: each time an error, nothing lost, nothing half changed, and
// the same work done again gives the right values. Host memory fails for the thread that works, by operator new, posix_memalign and mmap of
// this program; a GPU's by leaving only so many blocks of it.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tandem/tandem.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <thread>

#include "check.h"
#include "runtime/host_cache.h"

namespace td = tandem;
namespace cuda = td::cuda;

namespace {

/// Which of the thread's allocations fail: the `first`th and `count - 1` after it. Counted from 1.
struct Faults {
  int64_t first = 0, count = 0, seen = 0;
};
thread_local constinit Faults faults;
thread_local constinit bool armed = false;

bool fails() {
  if (!armed) return false;
  ++faults.seen;
  return faults.seen >= faults.first && faults.seen - faults.first < faults.count;
}

void* allocate(size_t bytes, size_t alignment) {
  if (fails()) return nullptr;
  return alignment <= alignof(std::max_align_t) ? std::malloc(bytes ? bytes : 1)
                                                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* allocate_or_throw(size_t bytes, size_t alignment = 1) {
  void* const data = allocate(bytes, alignment);
  if (!data) throw std::bad_alloc();
  return data;
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // these are a pair: malloc's
void* operator new(size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) { return allocate_or_throw(bytes, static_cast<size_t>(alignment)); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return allocate_or_throw(bytes, static_cast<size_t>(alignment)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, size_t) noexcept { std::free(data); }
void operator delete[](void* data, size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete[](void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, size_t, std::align_val_t) noexcept { std::free(data); }
void operator delete[](void* data, size_t, std::align_val_t) noexcept { std::free(data); }

extern "C" int posix_memalign(void** data, size_t alignment, size_t bytes) noexcept {
  static auto* const real = next<int(void**, size_t, size_t)>("posix_memalign");
  return fails() ? ENOMEM : real(data, alignment, bytes);
}
extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return real(address, bytes, protection, flags, file, offset);
}

namespace {

/// A piece of work that may run out of memory: made anew for each attempt.
struct Work {
  virtual ~Work() = default;
  virtual void act() = 0;
  /// After an act that threw: nothing is half changed.
  virtual bool untouched() { return true; }
  /// Whether what it has allocated before it ran out is kept for the next time.
  [[nodiscard]] virtual bool keeps() const { return false; }
  /// After acts that threw and one that did not.
  virtual bool right() = 0;
};
using Maker = std::function<std::unique_ptr<Work>()>;

/// How many there were: a program that stops counting them must not pass.
int64_t all_allocations = 0;
/// What the work is doing, for a program that ends in the middle.
std::string doing;

bool same(const td::Tensor& a, const td::Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || (a.sizes() == b.sizes() && td::equal(a.cpu(), b.cpu())));
}

/// Bytes in use by malloc, mapped ones too, once the library has given back what it keeps.
size_t in_use() {
  td::runtime::trim_host_cache();
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

enum class End { Done, Failed, Wrong };

/// Once with faults, then, where that failed, without.
End attempt(const Maker& make, int64_t first, int64_t count, std::string& text) {
  End end = End::Done;
  std::thread([&] {  // its own: no block is at hand
    const auto work = make();
    faults = {first, count, 0};
    armed = true;
    try {
      work->act();
      armed = false;
      if (faults.seen < first) text = "all";
    } catch (const std::bad_alloc&) {
      armed = false;
      end = End::Failed;
    } catch (const td::OutOfMemoryError&) {
      armed = false;
      end = End::Failed;
    } catch (const std::exception& error) {
      armed = false;
      end = End::Wrong;
      text = std::string("another error: ") + error.what();
      return;
    }
    try {
      if (end == End::Failed) {
        if (!work->untouched()) {
          end = End::Wrong;
          text = "half changed";
          return;
        }
        work->act();
      }
      if (!work->right()) {
        text = end == End::Failed ? "wrong values afterwards" : "wrong values though nothing was thrown";
        end = End::Wrong;
      }
    } catch (const std::exception& error) {
      end = End::Wrong;
      text = std::string("unusable afterwards: ") + error.what();
    }
  })
      .join();
  return end;
}

void host_faults(const char* name, const Maker& make) {
  std::string text;
  for (int i = 0; i < 3; ++i) (void)attempt(make, INT64_MAX, 1, text);  // what is made once for the process
  int64_t allocations = 0;
  for (const int64_t count : {int64_t{1}, int64_t{2}, INT64_MAX}) {
    for (int64_t first = 1; first < 5000; ++first) {
      doing = td::str(name, ", host allocation ", first, count == 1 ? "" : count == 2 ? " and the next" : " and all after it");
      text.clear();
      bool wrong = false;
      size_t lost = 1;
      for (int again = 0; again < 3 && lost > 0 && !wrong; ++again) {  // a table may have grown: it does not grow each time
        const size_t before = in_use();
        wrong = attempt(make, first, count, text) == End::Wrong;
        const size_t after = in_use();
        lost = after > before ? after - before : 0;
      }
      if (wrong) check(false, doing.c_str(), __LINE__, text);
      if (lost && !wrong) check(false, doing.c_str(), __LINE__, td::str(lost, " bytes lost each time"));
      if (text == "all") break;
      ++allocations;
    }
  }
  all_allocations += allocations;
}

void device_faults(const char* name, const Maker& make) {
  const auto device = td::gpu(0);
  int allocations = 0;
  for (size_t free = 0; free < 500; ++free) {
    doing = td::str(name, ", with ", free, " blocks left");
    std::string text;
    bool failed = false;
    const size_t first = cuda::memory_allocated(device);
    {
      const auto work = make();
      cuda::synchronize();
      std::vector<td::Tensor> all;
      try {
        while (true) all.push_back(td::empty({1}, device));
      } catch (const td::OutOfMemoryError&) {
      }
      // Every other one, so that none of the gaps is larger.
      for (size_t i = 0; i < free; ++i) all[2 * i + 1] = td::Tensor();
      const size_t before = cuda::memory_allocated(device);
      try {
        work->act();
      } catch (const td::OutOfMemoryError&) {
        failed = true;
      } catch (const std::exception& error) {
        check(false, doing.c_str(), __LINE__, std::string("another error: ") + error.what());
        failed = true;
      }
      if (failed) {
        cuda::synchronize();
        const size_t after = cuda::memory_allocated(device);
        if (after > before && !work->keeps()) check(false, doing.c_str(), __LINE__, td::str(after - before, " bytes of the GPU lost"));
      }
      all.clear();
      try {
        if (failed) {
          if (!work->untouched()) check(false, doing.c_str(), __LINE__, "half changed");
          work->act();
        }
        if (!work->right()) check(false, doing.c_str(), __LINE__, "wrong values");
      } catch (const std::exception& error) {
        check(false, doing.c_str(), __LINE__, std::string("unusable afterwards: ") + error.what());
      }
    }
    cuda::synchronize();
    if (cuda::memory_allocated(device) != first)
      check(false, doing.c_str(), __LINE__, td::str(cuda::memory_allocated(device) - first, " bytes of the GPU lost at the end"));
    if (!failed) break;
    ++allocations;
  }
  all_allocations += allocations;
}

td::Tensor numbers(const td::Shape& sizes, td::Device device, double scale) {
  return (td::arange(static_cast<double>(sizes.numel())) * scale).sin().reshape(sizes).to(device);
}

/// A function of one tensor. Nothing but its result can be changed.
struct Operation : Work {
  std::function<td::Tensor(const td::Tensor&)> f;
  td::Tensor x, y;
  Operation(std::function<td::Tensor(const td::Tensor&)> f, td::Device device) : f(std::move(f)), x(numbers({4, 6}, device, 0.7)) {}
  void act() override { y = f(x); }
  bool right() override { return same(y, f(numbers({4, 6}, td::cpu(), 0.7))) && same(x, numbers({4, 6}, td::cpu(), 0.7)); }
};

/// A change in place, whole or not at all.
struct InPlace : Operation {
  using Operation::Operation;
  void act() override { y = f(x); }
  bool untouched() override { return same(x, numbers({4, 6}, td::cpu(), 0.7)); }
  bool right() override { return same(x, f(numbers({4, 6}, td::cpu(), 0.7))); }
};

struct Backward : Work {
  td::Tensor x, w, loss;
  explicit Backward(td::Device device) : x(numbers({4, 6}, device, 0.7)), w(numbers({6, 3}, device, 0.3)) {
    x.requires_grad_();
    w.requires_grad_();
  }
  virtual td::Tensor forward() const {
    const td::Tensor y = x.matmul(w).tanh();
    return (y.softmax(1) * y + y.narrow(1, 0, 1)).sum();
  }
  void act() override {
    x.set_grad(td::Tensor());
    w.set_grad(td::Tensor());
    forward().backward();
  }
  bool right() override {
    Backward plain(td::cpu());
    plain.forward().backward();
    return same(x.grad(), plain.x.grad()) && same(w.grad(), plain.w.grad());
  }
};

/// Steps of an optimizer: a step is taken by all parameters or by none.
struct Steps : Work {
  using Factory = std::function<std::unique_ptr<td::optim::Optimizer>(std::vector<td::Tensor>)>;
  Factory factory;
  std::vector<td::Tensor> parameters, before;
  std::unique_ptr<td::optim::Optimizer> optimizer;
  bool second;
  Steps(Factory make, td::Device device, bool second) : factory(std::move(make)), second(second) {
    parameters = {numbers({4, 6}, device, 0.7), numbers({5}, device, 0.2), numbers({6, 4}, device, 0.9).t()};
    for (const auto& p : parameters) p.requires_grad_();
    optimizer = factory(parameters);
    set_gradients();
    if (second) optimizer->step();
    for (const auto& p : parameters) before.push_back(p.detach().clone());
  }
  [[nodiscard]] bool keeps() const override { return true; }
  void set_gradients() {
    for (const auto& p : parameters) p.set_grad(numbers(p.sizes(), p.device(), 0.4));
  }
  void act() override { optimizer->step(); }
  bool untouched() override {
    for (size_t i = 0; i < parameters.size(); ++i)
      if (!same(parameters[i].detach(), before[i])) return false;
    return true;
  }
  bool right() override {
    optimizer->step();  // what it keeps has taken the step as well
    Steps plain(factory, td::cpu(), second);
    plain.optimizer->step();
    plain.optimizer->step();
    for (size_t i = 0; i < parameters.size(); ++i)
      if (!same(parameters[i].detach(), plain.parameters[i].detach())) return false;
    return true;
  }
};

struct Training : Work {
  td::Device device;
  td::nn::Sequential model{td::nn::Linear(6, 5), td::nn::ReLU(), td::nn::Linear(5, 3)};
  std::unique_ptr<td::optim::Adam> optimizer;
  td::Tensor x, target;
  [[nodiscard]] bool keeps() const override { return true; }
  explicit Training(td::Device on) : device(on), x(numbers({4, 6}, on, 0.7)), target(numbers({4, 3}, on, 0.3)) {
    const td::NoGradGuard quiet;
    for (const auto& p : model.parameters()) p.copy_(numbers(p.sizes(), td::cpu(), 0.6));
    model.to(device);
    optimizer = std::make_unique<td::optim::Adam>(model.parameters(), td::optim::AdamOptions{.lr = 0.1});
  }
  void act() override {
    optimizer->zero_grad();
    td::mse_loss(model(x), target).backward();
    optimizer->step();
  }
  bool right() override {
    act();
    Training plain{td::cpu()};
    plain.act();
    plain.act();
    const auto ours = model.parameters(), right = plain.model.parameters();
    for (size_t i = 0; i < ours.size(); ++i)
      if (!same(ours[i].detach(), right[i].detach())) return false;
    return true;
  }
};

struct File : Work {
  td::Tensor x, y;
  td::io::TensorMap loaded;
  bool loads;
  File(td::Device device, bool loads) : x(numbers({4, 6}, device, 0.7)), y(numbers({3}, device, 0.1)), loads(loads) {
    td::io::save_safetensors("old.safetensors", {{"y", y}});
    if (loads) td::io::save_safetensors("new.safetensors", {{"x", x}, {"y", y}});
    else td::io::save_safetensors("new.safetensors", {{"y", y}});
  }
  void act() override {
    if (loads) loaded = td::io::load_safetensors("new.safetensors", x.device());
    else td::io::save_safetensors("new.safetensors", {{"x", x}, {"y", y}});
  }
  bool untouched() override {
    const auto bytes = [](const char* path) {
      std::ifstream in(path);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    size_t files = 0;  // nothing is left beside it
    for (const auto& entry : std::filesystem::directory_iterator(".")) files += entry.is_regular_file();
    return files == 2 && loaded.empty() && (loads || bytes("new.safetensors") == bytes("old.safetensors"));
  }
  bool right() override {
    if (!loads) loaded = td::io::load_safetensors("new.safetensors");
    return loaded.size() == 2 && same(loaded["x"], x) && same(loaded["y"], y);
  }
};

template <class W, class... Args>
Maker maker(Args... args) {
  return [=] { return std::make_unique<W>(args...); };
}

void everything(td::Device device, const std::function<void(const char*, const Maker&)>& look) {
  using T = const td::Tensor&;
  const std::pair<const char*, std::function<td::Tensor(T)>> operations[] = {
      {"arithmetic", [](T x) { return (x * 2).tanh() + x; }},
      {"matmul", [](T x) { return x.matmul(x.t()); }},
      {"reduction", [](T x) { return x.softmax(1).sum(0).std(); }},
      {"sort",
       [](T x) {
         return td::cat({x.sort(1).values, x.cumsum(0)});
       }},
      {"index",
       [](T x) {
         return x.index({td::tensor({2, 0}, x.device()), td::Slice(0, 3)});
       }},
      {"broadcast", [](T x) { return td::where(x > 0, x, x.mean(0)).to(td::kFloat64); }},
      {"convolution",
       [](T x) {
         return td::conv1d(x.unsqueeze(0), td::ones({2, 4, 3}, x.device()));
       }},
      {"large", [](T x) { return (td::zeros({300000}, x.device()) + x.sum()).mean(); }},
      {"to the host", [](T x) { return x.cpu(); }},
  };
  for (const auto& [name, f] : operations)
    if (device.is_cpu() || std::string_view(name) != "large") look(name, maker<Operation>(f, device));  // a GPU has no segment for it
  const std::pair<const char*, std::function<td::Tensor(T)>> changes[] = {
      {"add_", [](T x) { return x.add_(x.t().contiguous().t().narrow(0, 0, 1)); }},
      {"index_put_",
       [](T x) {
         return x.index_put_({td::tensor({2, 0}, x.device())}, 4);
       }},
      {"clamp_", [](T x) { return x.clamp_(-0.5, 0.5); }},
  };
  for (const auto& [name, f] : changes) look(name, maker<InPlace>(f, device));
  look("backward", maker<Backward>(device));
  const std::pair<const char*, Steps::Factory> optimizers[] = {
      {"SGD", [](auto p) { return std::make_unique<td::optim::SGD>(std::move(p), td::optim::SGDOptions{.lr = 0.1, .momentum = 0.5}); }},
      {"Adam", [](auto p) { return std::make_unique<td::optim::Adam>(std::move(p), td::optim::AdamOptions{.lr = 0.1}); }},
      {"SGD of two groups",
       [](auto p) {
         auto sgd = std::make_unique<td::optim::SGD>(std::vector<td::Tensor>{p[0]}, td::optim::SGDOptions{.lr = 0.1, .momentum = 0.5});
         sgd->add_param_group({p[1], p[2]}, {.lr = 0.2, .momentum = 0.25});
         return sgd;
       }},
      {"Adam of two groups",
       [](auto p) {
         auto adam = std::make_unique<td::optim::Adam>(std::vector<td::Tensor>{p[0]});
         adam->add_param_group({p[1], p[2]}, {.lr = 0.2});
         return adam;
       }},
      {"AdamW", [](auto p) { return std::make_unique<td::optim::AdamW>(std::move(p)); }},
      {"RMSprop", [](auto p) { return std::make_unique<td::optim::RMSprop>(std::move(p)); }},
      {"Adagrad", [](auto p) { return std::make_unique<td::optim::Adagrad>(std::move(p)); }},
      {"NAdam", [](auto p) { return std::make_unique<td::optim::NAdam>(std::move(p)); }},
  };
  for (const auto& [name, factory] : optimizers)
    for (const bool second : {false, true})
      look(td::str(name, second ? ", a later step" : ", the first step").c_str(), maker<Steps>(factory, device, second));
  look("a training step", maker<Training>(device));
  look("save", maker<File>(device, false));
  look("load", maker<File>(device, true));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  std::set_terminate([] {
    std::printf("ended: %s\n", doing.c_str());
    std::fflush(stdout);
    std::abort();
  });
  const auto chosen = [&](auto look) {
    return [look, &only](const char* name, const Maker& make) {
      if (only.empty() || std::string(name).find(only) != std::string::npos) look(name, make);
    };
  };
  mkdir("files", 0700);
  CHECK(chdir("files") == 0);
  everything(td::cpu(), chosen(host_faults));
  everything(td::gpu(0), chosen([](const char* name, const Maker& make) {
               // A kernel a group: a GPU's queue takes host memory for each, and the first cannot be called back.
               if (std::string_view(name).find("two groups") == std::string_view::npos)
                 host_faults(td::str(name, " on a GPU").c_str(), make);
             }));
  everything(td::gpu(0), chosen(device_faults));
  CHECK(!only.empty() || all_allocations > 1500);
  return finish();
}
