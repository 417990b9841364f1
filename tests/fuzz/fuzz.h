// What the fuzzers share. Each of them is one file: it defines `fuzz::read`, which gives an input to one reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fuzz {

/// Reads one input. It may throw what the library throws; anything else is a finding.
void read(std::string_view bytes);

/// The path of a file in memory that holds `bytes`, until the next call.
[[nodiscard]] const std::string& file_of(std::string_view bytes);

/// A folder of this program's own, which goes with it where it ends as programs do.
[[nodiscard]] const std::filesystem::path& folder();

/// Ends the program, which is how a finding shows, unless `good`.
void expect(bool good, const char* what);

/// Whether `f` ends without an error of the library's, which must say something.
template <class F>
bool succeeds(F&& f) {
  try {
    f();
    return true;
  } catch (const tandem::Error& error) {
    expect(error.what()[0] != '\0', "an error without a text");
    return false;
  }
}

/// A mutator for formats with lengths or checksums, without which nearly every input would be refused at once: as libFuzzer's own, but
/// half of the inputs are `repaired`. A fuzzer's LLVMFuzzerCustomMutator calls it.
[[nodiscard]] size_t mutate(uint8_t* data, size_t size, size_t most, unsigned seed, std::string (*repaired)(std::string bytes));

}  // namespace fuzz
