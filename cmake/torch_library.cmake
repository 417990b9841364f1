# libtandem_torch.so: src/libtorch/, libtorch's names over tandem. A library of its own, which only programs written for libtorch link.
file(GLOB torch_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/libtorch/*.cpp)
add_library(tandem_torch SHARED ${torch_sources})
add_library(tandem::torch ALIAS tandem_torch)
set_target_properties(tandem_torch PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(tandem_torch PROPERTIES EXCLUDE_FROM_ALL ON)  # built where something links it
  target_include_directories(tandem_torch INTERFACE ${PROJECT_BINARY_DIR}/libtorch/include)
endif()
target_compile_options(tandem_torch PRIVATE $<$<CONFIG:Release>:-Os>)
target_link_libraries(tandem_torch PUBLIC tandem PRIVATE $<BUILD_INTERFACE:tandem_internal> $<BUILD_INTERFACE:$<$<CONFIG:Release>:tandem_own_paths>>)
target_link_options(tandem_torch PRIVATE -Wl,--gc-sections -Wl,-O1 -Wl,--as-needed -Wl,-Bsymbolic-functions
  $<$<NOT:$<CONFIG:Sanitize>>:-Wl,-z,defs> $<$<CONFIG:Release>:-s>)
