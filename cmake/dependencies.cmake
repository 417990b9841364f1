# Everything comes from Debian's packages; docs/dependencies.md says which and why. Plain library paths rather than imported
# targets, so that the installed package names none of them.
find_package(Threads REQUIRED)

function(tandem_require variable package)
  if(NOT ${variable})
    message(FATAL_ERROR "tandem needs ${package}: run ./dev build, or apt-get install ${package}")
  endif()
endfunction()

find_path(TANDEM_DNNL_INCLUDE dnnl.hpp)
find_library(TANDEM_DNNL_LIBRARY dnnl)
tandem_require(TANDEM_DNNL_INCLUDE libdnnl-dev)
tandem_require(TANDEM_DNNL_LIBRARY libdnnl-dev)

find_path(TANDEM_ZLIB_INCLUDE zlib.h)
find_library(TANDEM_ZLIB_LIBRARY z)
tandem_require(TANDEM_ZLIB_INCLUDE zlib1g-dev)
tandem_require(TANDEM_ZLIB_LIBRARY zlib1g-dev)

find_path(TANDEM_PNG_INCLUDE png.h)
find_library(TANDEM_PNG_LIBRARY png16)
tandem_require(TANDEM_PNG_INCLUDE libpng-dev)
tandem_require(TANDEM_PNG_LIBRARY libpng-dev)

find_path(TANDEM_JPEG_INCLUDE jpeglib.h)
find_library(TANDEM_JPEG_LIBRARY jpeg)
tandem_require(TANDEM_JPEG_INCLUDE libjpeg62-turbo-dev)
tandem_require(TANDEM_JPEG_LIBRARY libjpeg62-turbo-dev)

# OpenBLAS (for its LAPACK) is opened at the first decomposition, not at program start, so only its place is needed. The
# serial build first: the others bring a thread pool of their own.
find_library(TANDEM_OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-serial)
tandem_require(TANDEM_OPENBLAS_LIBRARY libopenblas-serial-dev)
get_filename_component(tandem_openblas_folder ${TANDEM_OPENBLAS_LIBRARY} DIRECTORY)
if(CMAKE_SYSROOT)
  string(REPLACE "${CMAKE_SYSROOT}" "" tandem_openblas_folder ${tandem_openblas_folder})  # as the machine that it runs on sees it
endif()
set(TANDEM_OPENBLAS_FILE ${tandem_openblas_folder}/libopenblas.so.0)

find_package(CLI11 QUIET)
tandem_require(CLI11_FOUND libcli11-dev)
find_package(nlohmann_json QUIET)
tandem_require(nlohmann_json_FOUND nlohmann-json3-dev)
if(TANDEM_TESTS)
  find_package(GTest QUIET)
  tandem_require(GTest_FOUND libgtest-dev)
endif()
