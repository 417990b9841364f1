// Ranks that are processes: this program again, which runs one of the functions that are listed in processes_test.cpp.
#pragma once

/// The program of a rank: `--rank FUNCTION RANK SIZE NAME`. 0 where nothing failed.
int run_as_rank(int argc, char** argv);
