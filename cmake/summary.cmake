# A few lines that say what will be built.
message(STATUS "tandem ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, kernels for ${TANDEM_ISAS}")
message(STATUS "  CUDA plug-in: ${TANDEM_CUDA_STATE}")
message(STATUS "  board:        ${TANDEM_BOARD_STATE}")
message(STATUS "  MPI plug-in:  ${TANDEM_MPI_STATE}")
message(STATUS "  Python:       ${TANDEM_PYTHON_STATE}")
if(TANDEM_SANITIZE)
  message(STATUS "  sanitizers:   ${TANDEM_SANITIZE}")
endif()
