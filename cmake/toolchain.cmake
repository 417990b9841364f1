# Language level, flags, compiler cache, output folders and run paths.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
# What another project chose for its own targets is not for these: the library's functions are visible, each of its files is compiled alone, and
# inlining across files would mix instruction sets.
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_VISIBILITY_INLINES_HIDDEN OFF)
set(CMAKE_UNITY_BUILD OFF)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)

# Flags of the three build types. Sanitize is -O1 with symbols; which sanitizers, TANDEM_SANITIZE says.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g0 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer")
set(CMAKE_ASM_FLAGS_SANITIZE "")
set(CMAKE_EXE_LINKER_FLAGS_SANITIZE "")
set(CMAKE_SHARED_LINKER_FLAGS_SANITIZE "")
# A product and a sum are two roundings on every processor; compilers join them where the processor always has the instruction (64-bit ARM). The kernels
# of an instruction set ask for it.
string(APPEND CMAKE_CXX_FLAGS " -ffp-contract=off")

# Paths below the checkout count relative to the build folder, so that a second clone finds what the first one compiled.
find_program(TANDEM_CCACHE ccache)
if(TANDEM_CCACHE)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_SLOPPINESS=pch_defines,time_macros
        ${TANDEM_CCACHE})
    endif()
  endforeach()
endif()

# The program runs from the build folder and from where it is installed without LD_LIBRARY_PATH.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
file(RELATIVE_PATH tandem_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${tandem_bin_to_lib}")

# What every C++ target of the project is compiled with (nvcc gets its own in cuda_plugin.cmake).
add_library(tandem_flags INTERFACE)
target_compile_options(tandem_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlaps in plain string concatenation (its bug 105651).
  target_compile_options(tandem_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(TANDEM_WERROR)
  target_compile_options(tandem_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
# Errors and tables name lines of tandem's own files as an install would have them, never by folders of the build. A compiler cache gives the compiler paths relative to
# the build folder.
file(RELATIVE_PATH tandem_build_to_source ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/src)
add_library(tandem_own_paths INTERFACE)
foreach(source ${PROJECT_SOURCE_DIR}/src ${tandem_build_to_source})
  target_compile_options(tandem_own_paths INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${source}/=tandem/>)
endforeach()
if(NOT TANDEM_OBSERVERS)
  target_compile_definitions(tandem_flags INTERFACE TD_NO_OBSERVERS)
endif()
if(TANDEM_SANITIZE)
  set(sanitize -fsanitize=${TANDEM_SANITIZE} -fno-sanitize-recover=all)
  # These warnings see paths that only the sanitizers' own instrumentation makes.
  set(quiet -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
  if(TANDEM_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND quiet -Wno-tsan)  # "atomic_thread_fence is not supported"
  endif()
  target_compile_options(tandem_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitize}> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:${quiet}>)
  target_link_options(tandem_flags INTERFACE ${sanitize})
  # The sanitizers' own settings, for every program of the build.
  add_library(tandem_sanitizer_options OBJECT ${PROJECT_SOURCE_DIR}/tests/sanitizers/options.cpp)
endif()
