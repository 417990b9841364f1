// Workers of these tests are this program again.
#include <gtest/gtest.h>

#include "process/init.h"

int main(int argc, char** argv) {
  tandem::multiprocessing::init(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
