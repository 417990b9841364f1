# Declares the functions and methods of every row of src/kernels/pointwise.def:
#   cmake -DDEF=…/pointwise.def -DOUT=…/generated -P pointwise_headers.cmake
# writes OUT/ops/pointwise.h and OUT/tensor/pointwise_methods.inc, touching them only when they change.
file(STRINGS "${DEF}" rows REGEX "^TD_(UNARY|BINARY)\\(")
set(functions "// Pointwise operations: made from kernels/pointwise.def by cmake/pointwise_headers.cmake. Broadcasting and result types are PyTorch's.
#pragma once

#include \"tensor/tensor.h\"

namespace tandem {

")
set(methods "// Made from kernels/pointwise.def by cmake/pointwise_headers.cmake; a part of class Tensor.
")
foreach(row IN LISTS rows)
  string(REGEX MATCH "^TD_([A-Z]+)\\(([a-z0-9_]+)," _ "${row}")
  set(kind "${CMAKE_MATCH_1}")
  set(name "${CMAKE_MATCH_2}")
  string(REGEX MATCH "\"([^\"]*)\"(, \\.[^)]*)?\\)$" _ "${row}")
  set(doc "${CMAKE_MATCH_1}")
  if(kind STREQUAL "UNARY")
    string(APPEND functions "/// ${doc} As torch.${name}.
[[nodiscard]] Tensor ${name}(const Input& x, Site site = Site::here());
const Tensor& ${name}_(const Tensor& x, Site site = Site::here());
")
    string(APPEND methods "/// ${doc} As torch.Tensor.${name}.
[[nodiscard]] Tensor ${name}(Site site = Site::here()) const;
const Tensor& ${name}_(Site site = Site::here()) const;
")
  else()
    string(APPEND functions "/// ${doc} As torch.${name}.
[[nodiscard]] Tensor ${name}(const Operand& a, const Operand& b, Site site = Site::here());
const Tensor& ${name}_(const Tensor& a, const Operand& b, Site site = Site::here());
")
    string(APPEND methods "/// ${doc} As torch.Tensor.${name}.
[[nodiscard]] Tensor ${name}(const Operand& b, Site site = Site::here()) const;
const Tensor& ${name}_(const Operand& b, Site site = Site::here()) const;
")
  endif()
endforeach()
string(APPEND functions "
}  // namespace tandem
")
foreach(pair "ops/pointwise.h|functions" "tensor/pointwise_methods.inc|methods")
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 file)
  list(GET pair 1 variable)
  set(before "")
  if(EXISTS "${OUT}/${file}")
    file(READ "${OUT}/${file}" before)
  endif()
  if(NOT before STREQUAL "${${variable}}")
    file(WRITE "${OUT}/${file}" "${${variable}}")
  endif()
endforeach()
