message(FATAL_ERROR "tandem took a module of the project that it is a part of")
