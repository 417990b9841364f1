#include "data/idx.h"

#include "fuzz.h"

void fuzz::read(std::string_view bytes) { (void)tandem::data::read_idx(file_of(bytes)); }
