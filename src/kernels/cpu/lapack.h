// LAPACK, from OpenBLAS: opened at the first call, so that programs which need none of it start without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/fork.h"

namespace tandem::kernels::cpu {

using LapackInt = int32_t;

/// The routines for float or double, by their Fortran names without the first letter. Matrices are column-major; the lengths of the texts,
/// always 1, come last.
template <class T>
struct Lapack {
  using Text = const char*;
  using Int = const LapackInt*;
  void (*potrf)(Text uplo, Int n, T* a, Int lda, LapackInt* info, size_t);
  void (*getrf)(Int m, Int n, T* a, Int lda, LapackInt* pivots, LapackInt* info);
  void (*getrs)(Text trans, Int n, Int nrhs, const T* a, Int lda, const LapackInt* pivots, T* b, Int ldb, LapackInt* info, size_t);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, LapackInt* info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, LapackInt* info);
  void (*syevd)(Text jobz, Text uplo, Int n, T* a, Int lda, T* w, T* work, Int lwork, LapackInt* iwork, Int liwork, LapackInt* info, size_t,
                size_t);
  void (*gesdd)(Text jobz, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork, LapackInt* iwork,
                LapackInt* info, size_t);
  void (*trsm)(Text side, Text uplo, Text trans, Text diag, Int m, Int n, const T* alpha, const T* a, Int lda, T* b, Int ldb, size_t,
               size_t, size_t, size_t);
};

/// nullptr where OpenBLAS can't be opened or lacks one of them. To be called, and its routines used, under `lapack_mutex` only: the serial
/// OpenBLAS shares scratch memory between calls, so that two threads in it give wrong numbers.
template <class T>
const Lapack<T>* lapack();
tandem::detail::ForkSafeMutex& lapack_mutex();

}  // namespace tandem::kernels::cpu
