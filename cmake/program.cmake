# The program `tandem`, and the test structs of operations that it shares with the tests (src/tools/cases, one library).
file(GLOB case_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tools/cases/*.cpp)
add_library(tandem_cases STATIC ${case_sources})
target_link_libraries(tandem_cases PUBLIC tandem PRIVATE tandem_flags)

file(GLOB program_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tools/*.cpp ${CMAKE_SOURCE_DIR}/src/tools/recipes/*.cpp)
if(program_sources)
  add_executable(tandem_program ${program_sources})
  set_target_properties(tandem_program PROPERTIES OUTPUT_NAME tandem)
  target_compile_definitions(tandem_program PRIVATE TANDEM_VERSION="${PROJECT_VERSION}")
  target_link_libraries(tandem_program PRIVATE tandem_cases tandem tandem_flags CLI11::CLI11 nlohmann_json::nlohmann_json
    $<TARGET_NAME_IF_EXISTS:tandem_sanitizer_options>)
  # The plain loops that operations are held against, compiled for each instruction set as the kernels are (library.cmake); those of
  # functions as freely as the compiler can. No flag of theirs reaches the linker.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/tools/loops/functions.cpp PROPERTIES COMPILE_OPTIONS
    "-ffast-math;$<$<AND:$<CXX_COMPILER_ID:Clang>,$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>>:-fveclib=libmvec>")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/tools/machine.cpp PROPERTIES COMPILE_OPTIONS "-DTD_FOR_EACH_ISA(X)=${each_isa}")
  set(vector_bytes_baseline 16)
  set(vector_bytes_avx2 32)
  set(vector_bytes_avx512 64)
  file(GLOB loop_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tools/loops/*.cpp)
  foreach(isa ${TANDEM_ISAS})
    add_library(tandem_loops_${isa} OBJECT ${loop_sources})
    target_include_directories(tandem_loops_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(tandem_loops_${isa} PRIVATE TD_ISA=${isa} TD_VECTOR_BYTES=${vector_bytes_${isa}})
    target_compile_options(tandem_loops_${isa} PRIVATE ${isa_flags_${isa}} -O3 -ffp-contract=fast)
    target_link_libraries(tandem_loops_${isa} PRIVATE tandem_flags)
    target_sources(tandem_program PRIVATE $<TARGET_OBJECTS:tandem_loops_${isa}>)
  endforeach()
  target_link_options(tandem_program PRIVATE $<$<CONFIG:Release>:-s>)
endif()

# docs/operations.md: ./dev docs writes it, a test (tests/CMakeLists.txt) looks whether it is up to date.
add_executable(operations_page ${CMAKE_SOURCE_DIR}/src/tools/operations_page/main.cpp)
target_link_libraries(operations_page PRIVATE tandem_cases tandem tandem_flags $<TARGET_NAME_IF_EXISTS:tandem_sanitizer_options>)
