#error "tandem took a header of the project that it is a part of"
