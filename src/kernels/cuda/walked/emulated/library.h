// NVIDIA's libraries with a host in place of a GPU: kernels/cuda/vendor/ is compiled as it is and opens the libraries as always. Of their
// functions, those that need a GPU are ours here. Descriptors, plans and heuristics stay the libraries' own, and what is to be computed is
// read out of them; cuSOLVER has none, and all of it is ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tandem::kernels::cuda::emulated {

/// How often a library was asked to compute, since the program began.
struct Calls {
  std::atomic<int64_t> products{0}, convolutions{0}, decompositions{0};
};
Calls& calls();

/// The next call of a function fails, as a test wishes; whether this is that call.
void fail_next(const char* function);
bool fails(std::string_view function);

/// A function of an open library, as dlsym finds it: the library's own even where one of ours stands in for it.
void* own_function(void* library, const char* name);

/// Our function of that name, nullptr where the library's own serves.
void* cublaslt_stand_in(void* library, std::string_view name);
void* cudnn_stand_in(void* library, std::string_view name);
void* cusolver_stand_in(std::string_view name);

/// What a GPU's memory may hold before anything is written to it: every byte of a workspace is this before a call.
inline constexpr int kRubbish = 0x5A;

}  // namespace tandem::kernels::cuda::emulated
