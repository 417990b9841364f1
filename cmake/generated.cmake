# Headers written from src/kernels/pointwise.def by pointwise_headers.cmake, under the same root convention as src/:
#   BUILD/generated/ops/pointwise.h                included as "ops/pointwise.h"
#   BUILD/generated/tensor/pointwise_methods.inc   included as "tensor/pointwise_methods.inc"
# The script runs while configuring, and Ninja configures again when the list or the script changes: so one step serves the
# build, clang-tidy and editors. A file whose text stays the same is not touched, and nothing is rebuilt for it.
set(TANDEM_GENERATED ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${TANDEM_GENERATED})
set(pointwise_script ${CMAKE_CURRENT_LIST_DIR}/pointwise_headers.cmake)
set(pointwise_list ${CMAKE_SOURCE_DIR}/src/kernels/pointwise.def)
if(EXISTS ${pointwise_script} AND EXISTS ${pointwise_list})
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pointwise_script} ${pointwise_list})
  execute_process(COMMAND ${CMAKE_COMMAND} -DDEF=${pointwise_list} -DOUT=${TANDEM_GENERATED} -P ${pointwise_script} COMMAND_ERROR_IS_FATAL ANY)
endif()

# #include <tandem/tandem.h> works in the build as it does once installed.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/include/tandem SYMBOLIC)
