# Headers of other libraries that many sources include, compiled once for each target. Off by default: the compiler cache takes nothing
# from one build to another then, since the compiled headers differ from build to build.
if(TANDEM_PCH)
  target_precompile_headers(tandem PRIVATE
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional> <limits> <map>
    <memory> <mutex> <optional> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>)
  target_precompile_headers(tandem_command_line PRIVATE <CLI/CLI.hpp>)
  target_precompile_headers(tandem_program PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp>)
endif()
