// The board's pages over HTTP, for a browser of this machine and nobody else.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tools/board/store.h"

namespace tandem::tools::board {

class Server {
 public:
  /// Serves what the store holds, on the loopback address. Port 0: any that is free. UsageError where the port is taken.
  Server(Store& store, int port);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Where to look, with a token that no other user can guess: http://127.0.0.1:PORT/TOKEN/
  [[nodiscard]] const std::string& address() const;
  /// Until stop() is called, by any thread.
  void run();
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::tools::board
