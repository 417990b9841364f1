# Headers that are written, under the same root convention as src/; the first two from src/kernels/pointwise.def, by pointwise_headers.cmake:
#   GENERATED/ops/pointwise.h                included as "ops/pointwise.h"
#   GENERATED/tensor/pointwise_methods.inc   included as "tensor/pointwise_methods.inc"
#   GENERATED/base/version.h                 from version.h.in in src/base/
# The script runs while configuring, and Ninja configures again when the list or the script changes: so one step serves the
# build, clang-tidy and editors. A file whose text stays the same is not touched, and nothing is rebuilt for it.
set(TANDEM_GENERATED ${PROJECT_BINARY_DIR}/generated CACHE PATH "Where headers are written; one folder a build")
mark_as_advanced(TANDEM_GENERATED)
file(MAKE_DIRECTORY ${TANDEM_GENERATED})
configure_file(${PROJECT_SOURCE_DIR}/src/base/version.h.in ${TANDEM_GENERATED}/base/version.h @ONLY)
set(pointwise_script ${CMAKE_CURRENT_LIST_DIR}/pointwise_headers.cmake)
set(pointwise_list ${PROJECT_SOURCE_DIR}/src/kernels/pointwise.def)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pointwise_script} ${pointwise_list})
execute_process(COMMAND ${CMAKE_COMMAND} -DDEF=${pointwise_list} -DOUT=${TANDEM_GENERATED} -P ${pointwise_script} COMMAND_ERROR_IS_FATAL ANY)

# #include <tandem/tandem.h> works in the build as it does once installed.
file(MAKE_DIRECTORY ${TANDEM_GENERATED}/include)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src ${TANDEM_GENERATED}/include/tandem SYMBOLIC)

# What the project's own targets include from, and what those of others that link tandem do. Where tandem is a part of another project, these see the
# headers as they are installed: the names of src/, such as "base/error.h", may be that project's, too.
target_include_directories(tandem_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${TANDEM_GENERATED} ${TANDEM_GENERATED}/include)
if(PROJECT_IS_TOP_LEVEL)
  set(tandem_public_headers ${PROJECT_SOURCE_DIR}/src ${TANDEM_GENERATED} ${TANDEM_GENERATED}/include)
else()
  set(tandem_public_headers ${PROJECT_BINARY_DIR}/include)
  execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/src -DGENERATED=${TANDEM_GENERATED} -DDESTINATION=${tandem_public_headers}
    -P ${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} -DLIBTORCH=ON -DSOURCE=${PROJECT_SOURCE_DIR}/src -DGENERATED=${TANDEM_GENERATED}
    -DDESTINATION=${PROJECT_BINARY_DIR}/libtorch/include -P ${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.h)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
endif()
