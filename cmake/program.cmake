# The program `tandem`.
# What reads a command line, for it and for the program of the benchmarks.
set(command_line ${PROJECT_SOURCE_DIR}/src/tools/checks.cpp ${PROJECT_SOURCE_DIR}/src/tools/completion.cpp
 ${PROJECT_SOURCE_DIR}/src/tools/command_line.cpp ${PROJECT_SOURCE_DIR}/src/tools/did_you_mean.cpp)
add_library(tandem_command_line STATIC ${command_line})
target_compile_definitions(tandem_command_line PRIVATE TD_LIBRARY)
target_link_libraries(tandem_command_line PUBLIC tandem CLI11::CLI11 PRIVATE tandem_flags tandem_own_paths)

file(GLOB program_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tools/*.cpp ${PROJECT_SOURCE_DIR}/src/tools/launch/*.cpp
  ${PROJECT_SOURCE_DIR}/src/tools/recipes/*.cpp)
list(REMOVE_ITEM program_sources ${command_line})
add_executable(tandem_program ${program_sources})
set_target_properties(tandem_program PROPERTIES OUTPUT_NAME tandem)
target_compile_definitions(tandem_program PRIVATE TD_LIBRARY)
# They read words and print them: the compiler's time is worth more than theirs.
foreach(target tandem_command_line tandem_program)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endforeach()
target_link_libraries(tandem_program PRIVATE tandem_command_line tandem_flags tandem_own_paths nlohmann_json::nlohmann_json
  $<TARGET_NAME_IF_EXISTS:tandem_sanitizer_options>)
target_link_options(tandem_program PRIVATE $<$<CONFIG:Release>:-s>)
