// `tandem board`: runs side by side, in a browser. What serves them is a plug-in.
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "runtime/beside_library.h"
#include "tools/board/plugin.h"
#include "tools/program.h"

namespace tandem::tools {
namespace {

const board::Plugin& plugin() {
  const std::string path = runtime::beside_library("libtandem_board.so");
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const error = dlerror();
    fail("board: its plug-in cannot be loaded: ", error ? error : path,
         "; it is built where cpp-httplib is found (apt-get install libcpp-httplib-dev)");
  }
  const auto entry = reinterpret_cast<const board::Plugin* (*)()>(dlsym(library, "tandem_board_plugin"));
  const board::Plugin* const found = entry ? entry() : nullptr;
  if (!found || found->version != board::kPluginVersion) fail("board: the plug-in ", path, " is of another version: build both together");
  return *found;
}

}  // namespace

void add_board(CLI::App& app, Action& action) {
  CLI::App* board =
      app.add_subcommand("board", "Show runs in a browser, side by side and while they go on: curves, settings, pictures, GPUs");
  const auto options = std::make_shared<board::Options>();
  const auto port = std::make_shared<int>(board::kUsualPort);
  board->add_option("DIR", options->folder, "Folder with the folders of runs")->capture_default_str()->type_name("");
  CLI::Option* const given =
      board
          ->add_option("--port", *port,
                       "Port of 127.0.0.1 to serve on; 0 takes one that is free, as does a taken one that was not asked for")
          ->capture_default_str()
          ->check(whole_number_from(0, 65535));
  board->add_flag("--json", options->json, "List the runs, with settings and last figures, as JSON, and end");
  board->callback([=, &action] {
    if (given->count() > 0) options->port = *port;
    action = [options] { return plugin().run(*options); };
  });
}

}  // namespace tandem::tools
