#include "kernels/cpu/onednn.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "base/env.h"
#include "kernels/cpu/onednn_cache.h"
#include "kernels/cpu/onednn_thread.h"
#include "kernels/cpu/onednn_version.h"

namespace tandem::kernels::cpu {
namespace {

DnnlLayout matrix(DType dtype, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  DnnlLayout layout;
  const dnnl_dims_t sizes = {rows, columns}, strides = {row, column};
  layout.set_strides(2, sizes, dnnl_type(dtype), strides);
  return layout;
}

/// A primitive, and what its arguments look like.
class Product {
 public:
  static constexpr size_t kBytes = size_t{80} << 10;  // mostly code
  class Arguments;

  explicit Product(const DnnlProduct& p) {
    const SingleOpenMp single;
    const DnnlLayout a = matrix(p.in, p.m, p.k, p.a_row, p.a_column), b = matrix(p.in, p.k, p.n, p.b_row, p.b_column);
    const DnnlLayout out = matrix(p.out, p.m, p.n, p.out_row, 1);
    dnnl_primitive_attr_t attributes = nullptr;
    dnnl_primitive_desc_t description = nullptr;
    (void)(good(dnnl_primitive_attr_create(&attributes)) &&
           good(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user)) &&
           good(dnnl_describe_matmul(description, out, a, b, attributes)) && good(dnnl_primitive_create(&primitive_, description)));
    if (status_ == dnnl_success) {
      const DnnlLayout scratch = DnnlLayout::of(description, dnnl_query_scratchpad_md);
      scratch_bytes_ = scratch.bytes();
      const Described all[] = {{DNNL_ARG_DST, out}, {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_SCRATCHPAD, scratch}};
      std::copy(std::begin(all), std::end(all), described_);
    }
    dnnl_primitive_desc_destroy(description);
    dnnl_primitive_attr_destroy(attributes);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() { dnnl_primitive_destroy(primitive_); }

  [[nodiscard]] DnnlScratch scratch() const { return {status_ == dnnl_success, scratch_bytes_}; }
  int run(Arguments& arguments, void* out, const void* a, const void* b, void* scratch) const;

 private:
  static constexpr int kArguments = 4;
  struct Described {
    int name;
    DnnlLayout layout;
  };

  bool good(dnnl_status_t status) {
    status_ = status;
    return status == dnnl_success;
  }

  dnnl_primitive_t primitive_ = nullptr;
  Described described_[kArguments];  // where it has been made
  size_t scratch_bytes_ = 0;
  dnnl_status_t status_ = dnnl_success;
};

/// The memory objects that it runs on, pointed elsewhere for each call.
class Product::Arguments {
 public:
  static constexpr size_t kBytes = size_t{5} << 10;

  explicit Arguments(const Product& of) : status_(of.status_) {
    for (int i = 0; i < kArguments && status_ == dnnl_success; ++i) {
      list_[i].arg = of.described_[i].name;
      status_ = dnnl_memory_create(&list_[i].memory, of.described_[i].layout.get(), dnnl_shared_engine(), DNNL_MEMORY_NONE);
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (const dnnl_exec_arg_t& argument : list_) dnnl_memory_destroy(argument.memory);
  }

 private:
  friend class Product;
  dnnl_exec_arg_t list_[kArguments] = {};
  dnnl_status_t status_;
};

int Product::run(Arguments& arguments, void* out, const void* a, const void* b, void* scratch) const {
  if (arguments.status_ != dnnl_success) return arguments.status_;
  void* const data[kArguments] = {out, const_cast<void*>(a), const_cast<void*>(b), scratch};
  for (int i = 0; i < kArguments; ++i) dnnl_memory_set_data_handle(arguments.list_[i].memory, data[i]);
  const SingleOpenMp single;
  return dnnl_primitive_execute(primitive_, dnnl_thread_stream(), kArguments, arguments.list_);
}

struct Hash {
  size_t operator()(const DnnlProduct& p) const {
    uint64_t h = 0;
    for (const int64_t x : {p.m, p.n, p.k, p.a_row, p.a_column, p.b_row, p.b_column, p.out_row,
                            static_cast<int64_t>(p.in) | static_cast<int64_t>(p.out) << 8})
      h = (h ^ static_cast<uint64_t>(x)) * 0x9E3779B97F4A7C15ULL;
    return h ^ h >> 32;
  }
};

using Products = PrimitiveCache<DnnlProduct, Product, Hash>;

Products::Lease& lease_of(const DnnlProduct& product) {
  static auto* const products = new Products;
  Products::Lease* const known = products->find(product);
  return known ? *known : products->make(product);
}

/// The OpenMP that oneDNN uses.
struct OpenMp {
  int (*threads)();
  void (*set_threads)(int);
};
const OpenMp& openmp() {
  static const OpenMp found{reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads")),
                            reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))};
  return found;
}

/// The instruction set that oneDNN goes by: the best of the processor, or of what TANDEM_ISA allows, where ONEDNN_MAX_CPU_ISA does not say
/// it. Asked before anything else of oneDNN, which takes no limit afterwards.
dnnl_cpu_isa_t dnnl_isa() {
  static const dnnl_cpu_isa_t chosen = [] {
    if (const auto wish = environment("TANDEM_ISA"); wish && !environment("ONEDNN_MAX_CPU_ISA")) {
      if (*wish == "baseline") dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
      if (*wish == "avx2") dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    }
    return dnnl_get_effective_cpu_isa();
  }();
  return chosen;
}

/// A thread's stream.
struct Stream {
  dnnl_stream_t stream = nullptr;
  Stream() { dnnl_stream_create(&stream, dnnl_shared_engine(), dnnl_stream_default_flags); }
  ~Stream() { dnnl_stream_destroy(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

}  // namespace

SingleOpenMp::SingleOpenMp() {
  const OpenMp& found = openmp();
  if (found.threads && found.set_threads) before_ = found.threads();
  if (before_ != 1) found.set_threads(1);
}

SingleOpenMp::~SingleOpenMp() {
  if (before_ != 1) openmp().set_threads(before_);
}

dnnl_engine_t dnnl_shared_engine() {
  static const dnnl_engine_t shared = [] {
    (void)dnnl_isa();
    dnnl_engine_t made = nullptr;
    dnnl_engine_create(&made, dnnl_cpu, 0);
    return made;
  }();
  return shared;
}

dnnl_stream_t dnnl_thread_stream() {
  thread_local Stream mine;
  return mine.stream;
}

bool dnnl_has_bfloat16() { return dnnl_isa() >= dnnl_cpu_isa_avx512_core; }

int64_t dnnl_row_unit() {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_isa() >= dnnl_cpu_isa_avx512_core_amx ? 32 : 1;
#else
  return 1;
#endif
}

DnnlScratch dnnl_scratch(const DnnlProduct& product) try { return lease_of(product).made().scratch(); } catch (const std::bad_alloc&) {
  return {false, 0};
}

int dnnl_run(const DnnlProduct& product, void* out, const void* a, const void* b, void* scratch) try {
  const Products::Lease& lease = lease_of(product);
  return lease.made().run(lease.arguments(), out, a, b, scratch);
} catch (const std::bad_alloc&) {
  return dnnl_out_of_memory;
}

}  // namespace tandem::kernels::cpu
