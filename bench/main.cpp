// The program `tandem_bench`, which ./dev bench calls: measurements. See docs/benchmarks.md for the comparison that is made of them.
#include <CLI/CLI.hpp>
#include <memory>

#include "bench/comm.h"
#include "bench/features.h"
#include "bench/gpu.h"
#include "bench/loader.h"
#include "bench/micro.h"
#include "bench/observers.h"
#include "bench/onnx.h"
#include "bench/ops.h"
#include "bench/parallel.h"
#include "bench/work.h"
#include "data/prefetch.h"
#include "tools/command.h"
#include "tools/command_line.h"

namespace tandem::bench {
namespace {

using tools::Action;
using tools::kMostInt;
using tools::positive_number;
using tools::whole_number_from;

constexpr int64_t kMostGpus = 64;  // that a process can use

void add_micro(CLI::App& bench, Action& action) {
  CLI::App* micro = bench.add_subcommand("micro", "What the smallest things cost: an empty tensor, an addition, a step of training");
  const auto options = std::make_shared<BenchMicroOptions>();
  micro->add_flag("--json", options->json, "Print a JSON document instead of a table");
  micro->add_option("--only", options->only, "Measure only these cases (may be given several times)")->type_name("NAME");
  micro->add_option("--threads", options->threads, "Threads to compute with; 0 leaves the number as it is")
      ->capture_default_str()
      ->check(whole_number_from(0, kMostInt));
  micro->add_option("--ms", options->ms, "About how long to measure each case, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  micro->callback([options, &action] { action = [options] { return bench_micro(*options); }; });
}

void add_ops(CLI::App& bench, Action& action) {
  CLI::App* ops = bench.add_subcommand("ops", "How fast each operation is, and what share that is of what the machine can do");
  const auto options = std::make_shared<BenchOpsOptions>();
  ops->add_option("NAME", options->names, "Operations to measure; all where none is named")->type_name("");
  ops->add_flag("--list", options->list, "Only name the operations");
  ops->add_flag("--json", options->json, "Print a JSON document instead of a table");
  ops->add_option("--size", options->size, "About how many elements each works on")->capture_default_str()->check(whole_number_from(1));
  ops->add_option("--device", options->device, "Where: cpu, cuda, cuda:1")->capture_default_str()->type_name("NAME");
  ops->add_option("--threads", options->threads, "Threads to compute with; 0 leaves the number as it is")
      ->capture_default_str()
      ->check(whole_number_from(0, kMostInt));
  ops->add_option("--ms", options->ms, "About how long to measure each, in milliseconds")->capture_default_str()->check(positive_number());
  ops->callback([options, &action] { action = [options] { return bench_ops(*options); }; });
}

void add_observers(CLI::App& bench, Action& action) {
  CLI::App* observers = bench.add_subcommand("observers", "What ledger, profiler and races cost an operation");
  const auto options = std::make_shared<BenchObserversOptions>();
  observers->add_flag("--json", options->json, "Print a JSON document instead of a table");
  observers->add_option("--only", options->only, "Measure only these cases (may be given several times)")->type_name("NAME");
  observers->add_option("--ms", options->ms, "About how long to measure each case, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  observers->callback([options, &action] { action = [options] { return bench_observers(*options); }; });
}

void add_loader(CLI::App& bench, Action& action) {
  CLI::App* loader = bench.add_subcommand("loader", "Whether a loader's workers keep a device busy");
  const auto options = std::make_shared<BenchLoaderOptions>();
  loader->add_flag("--json", options->json, "Print a JSON document instead of a table");
  loader->add_option("--workers", options->workers, "Numbers of workers to measure")
      ->capture_default_str()
      ->check(whole_number_from(0, data::detail::kMostWorkers));
  loader->add_option("--batches", options->batches, "Batches an epoch")->capture_default_str()->check(whole_number_from(1, kMostInt));
  loader->add_option("--rounds", options->rounds, "Epochs of each kind")->capture_default_str()->check(whole_number_from(1, kMostInt));
  loader->add_option("--decode-ms", options->decode_ms, "What reading a batch costs one core, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  loader->add_option("--compute-ms", options->compute_ms, "What the device takes for a step, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  loader->add_option("--device", options->device, "Where the steps are computed: cpu, cuda, cuda:1")
      ->capture_default_str()
      ->type_name("NAME");
  loader->callback([options, &action] { action = [options] { return bench_loader(*options); }; });
}

void add_gpu(CLI::App& bench, Action& action) {
  CLI::App* gpu = bench.add_subcommand("gpu", "What a GPU does: copies, products, steps of training");
  const auto options = std::make_shared<BenchGpuOptions>();
  gpu->add_flag("--json", options->json, "Print a JSON document instead of a table");
  gpu->add_option("--only", options->only, "Measure only these cases (may be given several times)")->type_name("NAME");
  gpu->add_option("--device", options->device, "Where: cuda, cuda:1")->capture_default_str()->type_name("NAME");
  gpu->add_option("--ms", options->ms, "About how long to measure each case, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  gpu->add_option("--shrink", options->shrink, "Divides the sizes, for a quick look on a virtual GPU")
      ->capture_default_str()
      ->check(whole_number_from(1));
  gpu->callback([options, &action] { action = [options] { return bench_gpu(*options); }; });
}

void add_features(CLI::App& bench, Action& action) {
  CLI::App* features = bench.add_subcommand("features", "How many pictures a second ResNet-50 takes the features of, copies included");
  const auto options = std::make_shared<BenchFeaturesOptions>();
  features->add_flag("--json", options->json, "Print a JSON document instead of a line");
  features->add_option("--batch", options->batch, "Pictures a batch")->capture_default_str()->check(whole_number_from(1));
  features->add_option("--size", options->size, "Height and width of a picture")->capture_default_str()->check(whole_number_from(32));
  features->add_option("--device", options->device, "Where: cpu, cuda, cuda:1")->capture_default_str()->type_name("NAME");
  features->add_option("--threads", options->threads, "Threads to compute with; 0 leaves the number as it is")
      ->capture_default_str()
      ->check(whole_number_from(0, kMostInt));
  features->add_option("--ms", options->ms, "About how long to measure, in milliseconds")->capture_default_str()->check(positive_number());
  features->callback([options, &action] { action = [options] { return bench_features(*options); }; });
}

void add_work(CLI::App& bench, Action& action) {
  CLI::App* work = bench.add_subcommand("work", "What whole networks take: steps of training, and inference");
  const auto options = std::make_shared<BenchWorkOptions>();
  work->add_flag("--list", options->list, "Only name the cases; with --json also what they are and how many operations they take");
  work->add_flag("--json", options->json, "Print a JSON document instead of a table");
  work->add_option("--case", options->cases, "Measure only these cases (may be given several times)")->type_name("NAME");
  work->add_option("--save", options->save, "Write weights, inputs and outputs of each case to CASE.safetensors there, and measure nothing")
      ->type_name("FOLDER");
  work->add_flag("--serve", options->serve,
                 "Measure the case whenever a line of standard input comes; answers with a JSON document in a line");
  work->add_option("--batch", options->batch, "Samples a batch; 0: each case's own")->capture_default_str()->check(whole_number_from(0));
  work->add_option("--device", options->device, "Where: cpu, cuda, cuda:1")->capture_default_str()->type_name("NAME");
  work->add_option("--threads", options->threads, "Threads to compute with; 0 leaves the number as it is")
      ->capture_default_str()
      ->check(whole_number_from(0, kMostInt));
  work->add_option("--ms", options->ms, "About how long to measure each case, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  work->callback([options, &action] { action = [options] { return bench_work(*options); }; });
}

void add_parallel(CLI::App& bench, Action& action) {
  CLI::App* parallel = bench.add_subcommand("parallel", "What several GPUs do that one does not: training, products, copies, collectives");
  const auto options = std::make_shared<BenchParallelOptions>();
  parallel->add_flag("--json", options->json, "Print a JSON document instead of a table");
  parallel->add_flag("--quick", options->quick, "Everything small and once: whether it works; the figures mean nothing");
  parallel->add_option("--only", options->only, "Measure only these cases (may be given several times)")->type_name("NAME");
  parallel->add_option("--gpus", options->gpus, "Numbers of GPUs, separated by commas")
      ->capture_default_str()
      ->delimiter(',')
      ->check(whole_number_from(1, kMostGpus));
  parallel->add_option("--batch", options->batch, "Pictures a GPU; 0: as published, fewer on virtual GPUs")
      ->capture_default_str()
      ->check(whole_number_from(0, kMostInt));
  parallel->add_option("--size", options->size, "Height and width of DenseNet's pictures")
      ->capture_default_str()
      ->check(whole_number_from(32));
  parallel->add_option("--rounds", options->rounds, "Rounds, each through --gpus and back")
      ->capture_default_str()
      ->check(whole_number_from(1, kMostInt));
  parallel->add_option("--ms", options->ms, "About how long a measurement takes, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  parallel->add_option("--link", options->links, "Model training over nvlink, pcie, ethernet100 or COUNT:GB/S:MICROSECONDS")
      ->type_name("LINK");
  parallel->add_option("--rate", options->rates, "CASE=IMAGES: one GPU's rate for the model, measured elsewhere")->type_name("RATE");
  parallel->add_option("--serve", options->serve, "Measure a case when a line of standard input names a number of GPUs")->type_name("CASE");
  parallel->callback([options, &action] { action = [options] { return bench_parallel(*options); }; });
}

void add_comm(CLI::App& bench, Action& action) {
  CLI::App* comm =
      bench.add_subcommand("comm", "One rank of several: what collectives of CPU tensors and a step of data-parallel training take");
  const auto options = std::make_shared<BenchCommOptions>();
  comm->add_flag("--json", options->json, "Print a JSON document instead of a table; the first rank does");
  comm->add_option("--backend", options->backend, "local, mpi; without it, the one that the ranks were started by")->type_name("NAME");
  comm->add_option("--meet", options->meet, "Where ranks of one machine meet: a name that all of them give")->type_name("NAME");
  comm->add_option("--only", options->only, "Measure only these cases (may be given several times)")->type_name("NAME");
  comm->add_option("--threads", options->threads, "Threads of each rank")->capture_default_str()->check(whole_number_from(1, kMostInt));
  comm->add_option("--ms", options->ms, "About how long to measure each case, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  comm->callback([options, &action] { action = [options] { return bench_comm(*options); }; });
}

void add_onnx(CLI::App& bench, Action& action) {
  CLI::App* onnx = bench.add_subcommand("onnx", "What an inference of ONNX graphs takes, on arrays that onnxruntime has run them on");
  const auto options = std::make_shared<BenchOnnxOptions>();
  onnx->add_option("MODEL", options->models, "ONNX files")->required()->type_name("");
  onnx->add_option("--data", options->data, "The folder with 0.npz and so on, inputs and outputs of each model")
      ->required()
      ->type_name("FOLDER");
  onnx->add_option("--threads", options->threads, "Threads to compute with; 0 leaves the number as it is")
      ->capture_default_str()
      ->check(whole_number_from(0, kMostInt));
  onnx->add_option("--ms", options->ms, "About how long to measure each model, in milliseconds")
      ->capture_default_str()
      ->check(positive_number());
  onnx->callback([options, &action] { action = [options] { return bench_onnx(*options); }; });
}

constexpr tools::AddCommand kCommands[] = {add_micro, add_ops,      add_work,     add_observers, add_loader,
                                           add_gpu,   add_features, add_parallel, add_comm,      add_onnx};

constexpr tools::Program kProgram = {
    .name = "tandem_bench",
    .description = "Measures this machine, and tandem on it.",
    .commands = kCommands,
};

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) { return tandem::tools::CommandLine(tandem::bench::kProgram).run(argc, argv); }
