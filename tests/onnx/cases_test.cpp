// ONNX's own tests, where TANDEM_ONNX_CASES names a folder of them (.ci/onnx).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "onnx/node_cases.h"

namespace fs = std::filesystem;
using node_cases::Outcome;

TEST(OnnxCases, OfAFolder) {
  const char* const folder = std::getenv("TANDEM_ONNX_CASES");
  if (!folder) GTEST_SKIP() << "TANDEM_ONNX_CASES names no folder";
  const char* const device = std::getenv("TANDEM_ONNX_DEVICE");
  std::set<std::string> known, names;
  std::ifstream list(TANDEM_TESTS_DIR "/onnx/known_failures.txt");
  for (std::string name; list >> name; list.ignore(1000, '\n')) known.insert(name);
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "model.onnx")) names.insert(entry.path().filename().string());
  ASSERT_FALSE(names.empty()) << folder;
  std::map<Outcome, int> counts;
  for (const std::string& name : names) {
    const auto result = node_cases::run((fs::path(folder) / name).string(), device ? device : "cpu");
    ++counts[result.outcome];
    if (result.outcome == Outcome::Passed) continue;
    const char* const what = result.outcome == Outcome::Failed ? "failed" : result.outcome == Outcome::Missing ? "missing" : "dtype";
    std::cout << what << " " << name << ": " << result.why << "\n";
    EXPECT_TRUE(result.outcome != Outcome::Failed || known.contains(name)) << name;
  }
  const int ours = static_cast<int>(names.size()) - counts[Outcome::DType];
  std::cout << counts[Outcome::Passed] << " of " << ours << " cases passed, " << counts[Outcome::Failed] << " failed, "
            << counts[Outcome::Missing] << " have operators that are missing; " << counts[Outcome::DType]
            << " more have dtypes that are not ours" << std::endl;
  EXPECT_GE(counts[Outcome::Passed], ours * 9 / 10);
}
