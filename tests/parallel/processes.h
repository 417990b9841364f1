// Ranks that are processes: this program again, which runs the one test as a rank of it.
#pragma once

#include <functional>

namespace tandem::testing {

/// Where the user started the program, starts it for each rank with the test that runs now, and waits until they have ended: a failure of
/// one is a failure here. Once a test, whose further calls do nothing. In a rank's process, runs `f(rank)` in a process group of them all;
/// `number` counts the calls of a test.
void run_as_processes(int size, int number, const std::function<void(int)>& f);

}  // namespace tandem::testing
