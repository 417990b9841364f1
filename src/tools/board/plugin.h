// The one entry of libtandem_board.so, which the program `tandem` opens for its command `board`: the server's library, and the encryption
// that it brings, are loaded for nothing else.
#pragma once

#include <optional>
#include <string>

namespace tandem::tools::board {

inline constexpr int kPluginVersion = 1;

struct Options {
  std::string folder = "runs";
  std::optional<int> port;  // 0: any that is free; unset: kUsualPort, or any where that is taken
  bool json = false;        // list the runs and end
};
inline constexpr int kUsualPort = 6060;

struct Plugin {
  int version;
  /// Serves until Ctrl-C; gives the exit status.
  int (*run)(const Options& options);
};

}  // namespace tandem::tools::board
