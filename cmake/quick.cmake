# TANDEM_QUICK: a build that is there soon, for a first try. Headers that many sources include are compiled once for each target, and all but the
# kernels of cpu/isa/ by -O1. Off by default: it is slower, and the compiler cache takes nothing from one such build to another, since the
# compiled headers differ from build to build.
if(TANDEM_QUICK)
  target_precompile_headers(tandem PRIVATE
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional> <limits> <map>
    <memory> <mutex> <optional> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
    ${PROJECT_SOURCE_DIR}/src/ops/launch.h ${PROJECT_SOURCE_DIR}/src/nn/module.h)
  # At -O1 g++ 12 sees uninitialized parts of a std::variant where there are none.
  target_compile_options(tandem PRIVATE $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_precompile_headers(tandem_command_line PRIVATE <CLI/CLI.hpp>)
  target_precompile_headers(tandem_program PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp>)
  # Each source that is given the compiled CLI11 pays for its constants, three seconds: not those that use none of it.
  foreach(source ${program_sources} ${command_line})
    file(STRINGS ${source} uses REGEX "CLI/CLI.hpp|nlohmann/json.hpp|recipes/settings.h")
    if(NOT uses)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endif()
