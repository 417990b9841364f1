// An NCCL that is too old is named, with what it lacks, and cannot be chosen.
#include <gtest/gtest.h>

#include "comm/backend.h"
#include "runtime/expect_error.h"
#include "runtime/libraries.h"
#include "tandem.h"

namespace tandem {
namespace {

TEST(OldNccl, SaysWhatItLacks) {
  bool listed = false;
  for (const cuda::Library& library : cuda::libraries()) {
    if (library.name != "NCCL") continue;
    listed = true;
    EXPECT_EQ(library.why, "it lacks ncclGetUniqueId: it is too old");
    EXPECT_EQ(library.version, "2.8.4");
  }
  EXPECT_TRUE(listed);
  for (const comm::BackendFactory& each : comm::backends())
    if (each.name == "nccl")
      EXPECT_ERROR((void)each.make({.rank = 0, .size = 1, .device = gpu(0)}), Error,
                   "NCCL cannot be used: it lacks ncclGetUniqueId: it is too old");
}

}  // namespace
}  // namespace tandem
