# libtandem_torch.so: src/libtorch/, libtorch's names over tandem. A library of its own, which only programs written for libtorch link.
tandem_library_beside(torch libtorch)
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(tandem_torch PROPERTIES EXCLUDE_FROM_ALL ON)  # built where something links it
  target_include_directories(tandem_torch INTERFACE ${PROJECT_BINARY_DIR}/libtorch/include)
endif()
