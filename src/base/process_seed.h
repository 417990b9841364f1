// Where random numbers begin in a program that sets no seed.
#pragma once

#include <cstdint>
#include <optional>

namespace tandem::detail {

/// TANDEM_SEED, as it is for this process: each rank but 0 of those that a launcher has started makes another number of it. Nothing where
/// it is not set; error where it is no number.
[[nodiscard]] std::optional<uint64_t> seed_from_environment();

/// A seed by chance, from the system.
[[nodiscard]] uint64_t seed_by_chance();

/// What one seed is split up among.
enum class SeedOf : uint8_t { Device, Rank, Worker };
/// Another seed for each kind and number; 0 has the seed itself.
[[nodiscard]] uint64_t split_seed(uint64_t seed, SeedOf kind, uint64_t number);

}  // namespace tandem::detail
