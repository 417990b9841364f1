# The program `tandem`.
file(GLOB_RECURSE program_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tools/*.cpp)
if(program_sources)
  add_executable(tandem_program ${program_sources})
  set_target_properties(tandem_program PROPERTIES OUTPUT_NAME tandem)
  target_compile_definitions(tandem_program PRIVATE TANDEM_VERSION="${PROJECT_VERSION}")
  target_link_libraries(tandem_program PRIVATE tandem tandem_flags CLI11::CLI11 nlohmann_json::nlohmann_json
    $<TARGET_NAME_IF_EXISTS:tandem_sanitizer_options>)
  target_link_options(tandem_program PRIVATE $<$<CONFIG:Release>:-s>)
endif()
