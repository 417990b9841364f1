#include "tools/board/plugin.h"

#include <csignal>
#include <iostream>
#include <memory>
#include <thread>

#include "base/json_text.h"
#include "tools/board/server.h"
#include "tools/command.h"

namespace tandem::tools::board {
namespace {

int list(Store& store) {
  store.read_all();
  std::cout << detail::json_text(store.state(0)["runs"], 2) << std::endl;
  return 0;
}

std::unique_ptr<Server> serve(Store& store, const Options& options) {
  if (options.port) return std::make_unique<Server>(store, *options.port);
  try {
    return std::make_unique<Server>(store, kUsualPort);
  } catch (const UsageError&) {
    return std::make_unique<Server>(store, 0);
  }
}

int run(const Options& options) {
  Store store(options.folder);
  if (options.json) return list(store);
  // Of Ctrl-C a thread is told, which may stop the server. What was ignored stays so.
  sigset_t asked;
  sigemptyset(&asked);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction now = {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&asked, signal);
  }
  pthread_sigmask(SIG_BLOCK, &asked, nullptr);
  const std::unique_ptr<Server> server = serve(store, options);
  std::thread([asked, &server] {
    int signal = 0;
    while (sigwait(&asked, &signal) != 0) {
    }
    server->stop();
  }).detach();
  store.watch();
  std::cout << "The board of " << store.folder().string() << " is at\n  " << server->address()
            << "\nuntil Ctrl-C. The address lets in whoever has it on this machine." << std::endl;
  server->run();
  return 0;
}

}  // namespace
}  // namespace tandem::tools::board

extern "C" [[gnu::visibility("default")]] const tandem::tools::board::Plugin* tandem_board_plugin() {
  static const tandem::tools::board::Plugin plugin{tandem::tools::board::kPluginVersion, tandem::tools::board::run};
  return &plugin;
}
