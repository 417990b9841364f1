// Checks that a call throws an error of a type whose text contains given words.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

#define EXPECT_ERROR(call, Type, words)                                                                   \
  do {                                                                                                    \
    try {                                                                                                 \
      (void)(call);                                                                                       \
      ADD_FAILURE() << #call << " throws nothing";                                                        \
    } catch (const Type& error) {                                                                         \
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << "it says: " << error.what(); \
    } catch (const std::exception& error) {                                                               \
      ADD_FAILURE() << #call << " throws another type: " << error.what();                                 \
    }                                                                                                     \
  } while (0)
