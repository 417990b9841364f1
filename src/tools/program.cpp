#include "tools/program.h"

namespace tandem::tools {
namespace {

constexpr AddCommand kCommands[] = {add_tour,    add_devices, add_train, add_predict, add_generate, add_inspect,
                                    add_convert, add_launch,  add_smi,   add_trace,   add_board,    add_onnx};

}  // namespace

const Program kTandem = {
    .name = "tandem",
    .description = "Tensors, automatic differentiation and training, on the CPU and on GPUs, real or virtual.",
    .commands = kCommands,
    .footer =
        "Environment:\n"
        "  TANDEM_VIRTUAL_GPUS=2          two virtual GPUs made of threads (2x256MiB: with that much memory each)\n"
        "  CUDA_VISIBLE_DEVICES=1,0       which GPUs there are, and in which order\n"
        "  TANDEM_NUM_THREADS=4           threads to compute with",
};

}  // namespace tandem::tools
