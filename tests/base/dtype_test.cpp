// Element types: PyTorch's names and its table of promotions.
#include "base/dtype.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/error.h"

namespace tandem {
namespace {

constexpr DType kAll[] = {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64};

TEST(DType, PromotesByPyTorchsTable) {
  // torch.promote_types, rows and columns in the order of kAll.
  const std::string table[kDTypes] = {"b1 u1 i1 i2 i4 i8 f2 bf f4 f8", "u1 u1 i2 i2 i4 i8 f2 bf f4 f8", "i1 i2 i1 i2 i4 i8 f2 bf f4 f8",
                                      "i2 i2 i2 i2 i4 i8 f2 bf f4 f8", "i4 i4 i4 i4 i4 i8 f2 bf f4 f8", "i8 i8 i8 i8 i8 i8 f2 bf f4 f8",
                                      "f2 f2 f2 f2 f2 f2 f2 f4 f4 f8", "bf bf bf bf bf bf f4 bf f4 f8", "f4 f4 f4 f4 f4 f4 f4 f4 f4 f8",
                                      "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8"};
  const char* const codes[kDTypes] = {"b1", "u1", "i1", "i2", "i4", "i8", "f2", "bf", "f4", "f8"};
  for (const DType a : kAll)
    for (const DType b : kAll)
      EXPECT_EQ(codes[static_cast<int>(promote_types(a, b))], table[static_cast<int>(a)].substr(static_cast<size_t>(b) * 3, 2))
          << a << " and " << b;
}

TEST(DType, CastsUpTheKindsOnly) {
  const auto kind = [](DType dtype) { return is_floating(dtype) ? 2 : is_integral(dtype) ? 1 : 0; };
  for (const DType from : kAll)
    for (const DType to : kAll) EXPECT_EQ(can_cast(from, to), kind(from) <= kind(to)) << from << " to " << to;
}

TEST(DType, HasNamesAndSizes) {
  const char* const names[kDTypes] = {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"};
  const char* const scalars[kDTypes] = {"Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double"};
  for (const DType dtype : kAll) {
    EXPECT_STREQ(name(dtype), names[static_cast<int>(dtype)]);
    EXPECT_STREQ(scalar_name(dtype), scalars[static_cast<int>(dtype)]);
    visit(dtype, [&](auto zero) {
      EXPECT_EQ(sizeof zero, size_of(dtype));
      EXPECT_EQ(dtype_of<decltype(zero)>(), dtype);
    });
  }
  EXPECT_EQ(dtype_of<long>(), kInt64);
  EXPECT_EQ(dtype_of<long long>(), kInt64);
  std::ostringstream out;
  out << kBFloat16;
  EXPECT_EQ(out.str(), "bfloat16");
}

TEST(DType, RefusesADefaultThatIsNotFloating) {
  EXPECT_EQ(get_default_dtype(), kFloat32);
  set_default_dtype(kFloat64);
  EXPECT_EQ(get_default_dtype(), kFloat64);
  set_default_dtype(kFloat32);
  EXPECT_THROW(set_default_dtype(kInt64), Error);
  EXPECT_EQ(get_default_dtype(), kFloat32);
}

}  // namespace
}  // namespace tandem
