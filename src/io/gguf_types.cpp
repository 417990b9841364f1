// How ggml packs numbers into blocks. The text beside each decoder says how a block of it lies in the file.
#include "io/gguf_types.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/half.h"
#include "base/parallel.h"

namespace tandem::io {
namespace {

float half_at(const uint8_t* bytes) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return static_cast<float>(Half::from_bits(bits));
}
uint32_t bits_at(const uint8_t* bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}
int signed_at(const uint8_t* bytes) { return static_cast<int8_t>(*bytes); }

/// Element `i` of 32 in 16 bytes: the first half in the lower four bits, the second in the upper ones.
int nibble(const uint8_t* bytes, int i) { return bytes[i % 16] >> (i < 16 ? 0 : 4) & 15; }

constexpr int kBlock = 32, kSuperBlock = 256;

/// A scale, then 32 numbers of 4 bits, 8 more than they stand for.
void decode_q4_0(const uint8_t* block, float* out) {
  const float scale = half_at(block);
  for (int i = 0; i < kBlock; ++i) out[i] = static_cast<float>(nibble(block + 2, i) - 8) * scale;
}
/// A scale, a smallest number, then 32 numbers of 4 bits.
void decode_q4_1(const uint8_t* block, float* out) {
  const float scale = half_at(block), least = half_at(block + 2);
  for (int i = 0; i < kBlock; ++i) out[i] = static_cast<float>(nibble(block + 4, i)) * scale + least;
}
/// As Q4_0 with fifth bits in 32 bits before the others.
void decode_q5_0(const uint8_t* block, float* out) {
  const float scale = half_at(block);
  const uint32_t fifth = bits_at(block + 2);
  for (int i = 0; i < kBlock; ++i) {
    const int number = nibble(block + 6, i) | static_cast<int>(fifth >> i & 1U) << 4;
    out[i] = static_cast<float>(number - 16) * scale;
  }
}
/// As Q4_1 with fifth bits.
void decode_q5_1(const uint8_t* block, float* out) {
  const float scale = half_at(block), least = half_at(block + 2);
  const uint32_t fifth = bits_at(block + 4);
  for (int i = 0; i < kBlock; ++i) {
    const int number = nibble(block + 8, i) | static_cast<int>(fifth >> i & 1U) << 4;
    out[i] = static_cast<float>(number) * scale + least;
  }
}
/// A scale, then 32 signed bytes.
void decode_q8_0(const uint8_t* block, float* out) {
  const float scale = half_at(block);
  for (int i = 0; i < kBlock; ++i) out[i] = static_cast<float>(signed_at(block + 2 + i)) * scale;
}

/// Two bits of element `i` of 256 in 64 bytes: each half of the elements in 32 bytes, a quarter of it in the same bits of each.
int two_bits(const uint8_t* bytes, int i) { return bytes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; }

/// 16 scales and smallest numbers of 4 bits, numbers of 2 bits, and what both are multiplied with.
void decode_q2_k(const uint8_t* block, float* out) {
  const float scale = half_at(block + 80), least = half_at(block + 82);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int both = block[i / 16];
    out[i] = scale * static_cast<float>(both & 15) * static_cast<float>(two_bits(block + 16, i)) - least * static_cast<float>(both >> 4);
  }
}
/// Third bits, numbers of 2 bits, 16 scales of 6 bits in 12 bytes, and what they are multiplied with.
void decode_q3_k(const uint8_t* block, float* out) {
  const uint8_t* const scales = block + 96;
  const float scale = half_at(block + 108);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int part = i / 16;
    const int low = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4, high = scales[8 + part % 4] >> (part / 4 * 2) & 3;
    const bool third = (block[i % 32] >> (i / 32) & 1) != 0;
    out[i] = scale * static_cast<float>((low | high << 4) - 32) * static_cast<float>(two_bits(block + 32, i) - (third ? 0 : 4));
  }
}
/// Scale and smallest number of part `i` of 8, of 6 bits each, in 12 bytes.
std::pair<int, int> scale_and_least(const uint8_t* packed, int i) {
  if (i < 4) return {packed[i] & 63, packed[i + 4] & 63};
  return {(packed[i + 4] & 15) | packed[i - 4] >> 6 << 4, packed[i + 4] >> 4 | packed[i] >> 6 << 4};
}
/// What Q4_K and Q5_K share: multipliers, 8 scales and smallest numbers, fifth bits where there are any, numbers of 4 bits.
void decode_k(const uint8_t* block, const uint8_t* fifth, const uint8_t* numbers, float* out) {
  const float scale = half_at(block), least = half_at(block + 2);
  for (int part = 0; part < 8; ++part) {
    const auto [own_scale, own_least] = scale_and_least(block + 4, part);
    const float factor = scale * static_cast<float>(own_scale), offset = least * static_cast<float>(own_least);
    for (int i = 0; i < kBlock; ++i) {
      int number = numbers[part / 2 * kBlock + i] >> (part % 2 * 4) & 15;
      if (fifth != nullptr) number |= (fifth[i] >> part & 1) << 4;
      out[part * kBlock + i] = factor * static_cast<float>(number) - offset;
    }
  }
}
void decode_q4_k(const uint8_t* block, float* out) { decode_k(block, nullptr, block + 16, out); }
void decode_q5_k(const uint8_t* block, float* out) { decode_k(block, block + 16, block + 48, out); }
/// Lower 4 bits, upper 2 bits, 16 scales of 8 bits, and what they are multiplied with.
void decode_q6_k(const uint8_t* block, float* out) {
  const float scale = half_at(block + 208);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int half = i / 128, quarter = i % 128 / 32;
    const int low = block[half * 64 + quarter % 2 * 32 + i % 32] >> (quarter / 2 * 4) & 15, high = two_bits(block + 128, i);
    out[i] = scale * static_cast<float>(signed_at(block + 192 + i / 16)) * static_cast<float>((low | high << 4) - 32);
  }
}

/// The numbers that IQ4's four bits choose from, and MXFP4's.
constexpr int8_t kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr int8_t kFloat4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// A scale, then 32 choices.
void decode_iq4_nl(const uint8_t* block, float* out) {
  const float scale = half_at(block);
  for (int i = 0; i < kBlock; ++i) out[i] = scale * static_cast<float>(kUneven[nibble(block + 2, i)]);
}
/// What scales are multiplied with, 8 scales' upper 2 and lower 4 bits, then 8 times 32 choices.
void decode_iq4_xs(const uint8_t* block, float* out) {
  const float scale = half_at(block);
  const uint32_t upper = bits_at(block + 2);
  for (int part = 0; part < 8; ++part) {
    const int own = (block[4 + part / 2] >> (part % 2 * 4) & 15) | static_cast<int>(upper >> (part * 2) & 3U) << 4;
    const float factor = scale * static_cast<float>(own - 32);
    for (int i = 0; i < kBlock; ++i) out[part * kBlock + i] = factor * static_cast<float>(kUneven[nibble(block + 8 + part * 16, i)]);
  }
}
/// An exponent, then 32 numbers of 4 bits, twice what they stand for.
void decode_mxfp4(const uint8_t* block, float* out) {
  const uint32_t exponent = block[0];
  const auto scale = std::bit_cast<float>(exponent < 2 ? 0x00200000U << exponent : (exponent - 1) << 23);
  for (int i = 0; i < kBlock; ++i) out[i] = scale * static_cast<float>(kFloat4[nibble(block + 1, i)]);
}

constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, kFloat32, nullptr},
    {1, "F16", 1, 2, kFloat16, nullptr},
    {2, "Q4_0", 32, 18, kFloat32, decode_q4_0},
    {3, "Q4_1", 32, 20, kFloat32, decode_q4_1},
    {6, "Q5_0", 32, 22, kFloat32, decode_q5_0},
    {7, "Q5_1", 32, 24, kFloat32, decode_q5_1},
    {8, "Q8_0", 32, 34, kFloat32, decode_q8_0},
    {9, "Q8_1", 32, 40, {}, nullptr},
    {10, "Q2_K", 256, 84, kFloat32, decode_q2_k},
    {11, "Q3_K", 256, 110, kFloat32, decode_q3_k},
    {12, "Q4_K", 256, 144, kFloat32, decode_q4_k},
    {13, "Q5_K", 256, 176, kFloat32, decode_q5_k},
    {14, "Q6_K", 256, 210, kFloat32, decode_q6_k},
    {15, "Q8_K", 256, 292, {}, nullptr},
    {16, "IQ2_XXS", 256, 66, {}, nullptr},
    {17, "IQ2_XS", 256, 74, {}, nullptr},
    {18, "IQ3_XXS", 256, 98, {}, nullptr},
    {19, "IQ1_S", 256, 50, {}, nullptr},
    {20, "IQ4_NL", 32, 18, kFloat32, decode_iq4_nl},
    {21, "IQ3_S", 256, 110, {}, nullptr},
    {22, "IQ2_S", 256, 82, {}, nullptr},
    {23, "IQ4_XS", 256, 136, kFloat32, decode_iq4_xs},
    {24, "I8", 1, 1, kInt8, nullptr},
    {25, "I16", 1, 2, kInt16, nullptr},
    {26, "I32", 1, 4, kInt32, nullptr},
    {27, "I64", 1, 8, kInt64, nullptr},
    {28, "F64", 1, 8, kFloat64, nullptr},
    {29, "IQ1_M", 256, 56, {}, nullptr},
    {30, "BF16", 1, 2, kBFloat16, nullptr},
    {34, "TQ1_0", 256, 54, {}, nullptr},
    {35, "TQ2_0", 256, 66, {}, nullptr},
    {39, "MXFP4", 32, 17, kFloat32, decode_mxfp4},
    {40, "NVFP4", 64, 36, {}, nullptr},
    {41, "Q1_0", 128, 18, {}, nullptr},
};

}  // namespace

const GgufType* gguf_type(uint32_t id) {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const GgufType& type) { return type.id == id; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string readable_gguf_types() {
  std::string names;
  for (const GgufType& type : kTypes)
    if (type.dtype) names += (names.empty() ? "" : " ") + std::string(type.name);
  return names;
}

void decode_blocks(const GgufType& type, const uint8_t* blocks, int64_t count, float* out) {
  constexpr int64_t kPiece = 16384;  // elements a thread takes at least
  parallel_for(count, std::max<int64_t>(1, kPiece / type.block), get_num_threads(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) type.decode(blocks + i * type.bytes, out + i * type.block);
  });
}

}  // namespace tandem::io
