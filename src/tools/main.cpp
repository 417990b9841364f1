// The program `tandem`.
#include "tools/program.h"

int main(int argc, char** argv) { return tandem::tools::CommandLine(tandem::tools::kTandem).run(argc, argv); }
