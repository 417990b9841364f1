#include "io/npy.h"

#include "fuzz.h"

void fuzz::read(std::string_view bytes) { (void)tandem::io::load_npy(file_of(bytes)); }
