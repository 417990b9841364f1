// NVIDIA's libraries with a host in place of a GPU: kernels/cuda/vendor/ is compiled as it is and opens the libraries as always. Of their
// functions, those that need a GPU are ours here. Descriptors, plans and heuristics stay the libraries' own, and what is to be computed is
// read out of them; cuSOLVER and cuDNN's recurrent layers do nothing without a GPU, and all of theirs is ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace tandem::kernels::cuda::emulated {

/// How often a library was asked to compute, since the program began, how often memory was copied for it, how many
/// plans of cuDNN were made, and how many are being made and held.
struct Calls {
  std::atomic<int64_t> products{0}, convolutions{0}, decompositions{0}, recurrent{0}, copies{0}, plans{0}, held{0};
};
Calls& calls();

/// The next call of a function fails, as a test wishes; whether this is that call.
void fail_next(const char* function);
bool fails(std::string_view function);

/// While a test holds plans, those that are being made wait.
void hold_plans(bool hold);
void wait_while_held();

/// A function of an open library, as dlsym finds it: the library's own even where one of ours stands in for it.
void* own_function(void* library, const char* name);

/// Our function of that name, nullptr where the library's own serves.
void* cublaslt_stand_in(void* library, std::string_view name);
void* cudnn_stand_in(void* library, std::string_view name);
/// The same for libraries all of whose functions are ours.
void* cudnn_rnn_stand_in(std::string_view name);
void* cusolver_stand_in(std::string_view name);

/// A function of ours and the name of the one that it stands in for.
struct StandIn {
  std::string_view name;
  void* function;
};
/// `Library` is the type that the library's own has: ours has to have it, too.
template <class Library>
StandIn in_place_of(std::string_view name, Library* ours) {
  return {name, reinterpret_cast<void*>(ours)};
}
/// The function of a list that has this name, or nullptr.
[[nodiscard]] void* stand_in(std::span<const StandIn> all, std::string_view name);

/// What a GPU's memory may hold before anything is written to it: every byte of a workspace is this before a call.
inline constexpr int kRubbish = 0x5A;

}  // namespace tandem::kernels::cuda::emulated
