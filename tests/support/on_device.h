// The same test body on every device, and the text of an error.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "runtime/device.h"

/// The text of the `E` that `f` throws, without its place; "no error" where it throws none.
template <class E = tandem::Error, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.message();
  }
  return "no error";
}

/// The same test on every device, named by a string.
class OnDevice : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static tandem::Device device() { return tandem::Device(GetParam()); }
};
inline std::string device_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}
