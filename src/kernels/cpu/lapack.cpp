#include "kernels/cpu/lapack.h"

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace tandem::kernels::cpu {
namespace {

void* library() {
  static void* const opened = [] {
    void* found = dlopen(TANDEM_OPENBLAS_FILE, RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);  // an installed library on another machine
  }();
  return opened;
}

template <class T, class F>
bool find(F& function, const char* name) {
  const std::string symbol = (std::is_same_v<T, float> ? "s" : "d") + std::string(name) + "_";
  function = reinterpret_cast<F>(dlsym(library(), symbol.c_str()));
  return function != nullptr;
}

}  // namespace

tandem::detail::ForkSafeMutex& lapack_mutex() {
  static auto* const mutex = new tandem::detail::ForkSafeMutex;  // not destroyed: kernels may run while the program ends
  return *mutex;
}

template <class T>
const Lapack<T>* lapack() {
  static Lapack<T> routines;
  static const bool complete = library() && find<T>(routines.potrf, "potrf") && find<T>(routines.getrf, "getrf") &&
                               find<T>(routines.getrs, "getrs") && find<T>(routines.geqrf, "geqrf") && find<T>(routines.orgqr, "orgqr") &&
                               find<T>(routines.syevd, "syevd") && find<T>(routines.gesdd, "gesdd") && find<T>(routines.trsm, "trsm");
  return complete ? &routines : nullptr;
}

template const Lapack<float>* lapack<float>();
template const Lapack<double>* lapack<double>();

}  // namespace tandem::kernels::cpu
