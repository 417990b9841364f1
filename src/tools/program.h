// The program `tandem`: its commands.
#pragma once

#include "tools/command_line.h"

namespace tandem::tools {

extern const Program kTandem;

// Each is an AddCommand.
void add_tour(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_train(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_smi(CLI::App& app, Action& action);
void add_launch(CLI::App& app, Action& action);
void add_board(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_onnx(CLI::App& app, Action& action);

}  // namespace tandem::tools
