#include "comm/mpi/types.h"

#include <array>
#include <climits>

#include "base/error.h"
#include "comm/mpi/engine.h"

namespace tandem::comm::mpi {
namespace {

/// Elements of a large count that are taken together.
constexpr int64_t kBlock = int64_t{1} << 30;

}  // namespace

MPI_Datatype type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8: return MPI_UINT8_T;
    case DType::Int8: return MPI_INT8_T;
    case DType::Int16: return MPI_INT16_T;
    case DType::Int32: return MPI_INT32_T;
    case DType::Int64: return MPI_INT64_T;
    case DType::Float16:
    case DType::BFloat16: return MPI_UINT16_T;
    case DType::Float32: return MPI_FLOAT;
    case DType::Float64: return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

ManyType::ManyType(int64_t count, DType dtype) : count_(static_cast<int>(count)), type_(type_of(dtype)) {
  if (count <= INT_MAX) return;
  // Whole blocks, and what is left behind them.
  const MPI_Datatype element = type_;
  MPI_Datatype block = MPI_DATATYPE_NULL, blocks = MPI_DATATYPE_NULL, rest = MPI_DATATYPE_NULL;
  const int64_t whole = count / kBlock;
  check(MPI_Type_contiguous(static_cast<int>(kBlock), element, &block), "MPI_Type_contiguous");
  check(MPI_Type_contiguous(static_cast<int>(whole), block, &blocks), "MPI_Type_contiguous");
  check(MPI_Type_contiguous(static_cast<int>(count % kBlock), element, &rest), "MPI_Type_contiguous");
  const std::array<int, 2> lengths = {1, 1};
  const std::array<MPI_Aint, 2> places = {0, static_cast<MPI_Aint>(whole * kBlock) * static_cast<MPI_Aint>(size_of(dtype))};
  const std::array<MPI_Datatype, 2> types = {blocks, rest};
  check(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type_), "MPI_Type_create_struct");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
  for (MPI_Datatype* part : {&block, &blocks, &rest}) MPI_Type_free(part);
  count_ = 1;
  made_ = true;
}

ManyType::~ManyType() {
  if (made_) MPI_Type_free(&type_);
}

}  // namespace tandem::comm::mpi
