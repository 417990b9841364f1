#include "print.h"

#include <sstream>

#include "generator.h"

namespace fuzz {
namespace {

/// A helper of printed programs, written where its name occurs.
struct Helper {
  const char *name, *text;
};

const Helper kHelpers[] = {
    {"pattern(", kPatternText},
    {"show(", R"(void show(const td::Tensor& x) { std::cout << x.cpu() << std::endl; }
)"},
    {"later(", R"(void later(const td::Tensor& x) {
  if (x.is_cuda()) td::cuda::current_stream(x.device()).synchronize();
  std::cout << x.cpu() << std::endl;
}
)"},
    {"block[", R"(float block[2][256];  // filled by main
)"},
    {"shared[", R"(td::Tensor shared[2];  // made by main
)"},
    {"stream(", R"(std::vector<std::vector<td::cuda::Stream>> streams;  // made by main
td::cuda::Stream& stream(td::Device device, int i) { return streams[size_t(device.index())][size_t(i)]; }
)"},
    {"record(", R"(td::cuda::Event& record(td::cuda::Stream& stream) {
  static std::deque<td::cuda::Event> all;
  all.emplace_back().record(stream);
  return all.back();
}
)"},
    {"wait_for_all(", R"(void wait_for_all(td::Device device, int i) {
  for (int j = 0; j < 3; ++j)
    if (j != i) stream(device, i).wait_stream(stream(device, j));
}
)"},
    {"use(", R"(void use(int i) {
  for (auto& all : streams) td::cuda::set_stream(all[size_t(i)]);
}
)"},
    {"meet(", R"(void meet() {
  for (auto& all : streams)
    for (auto& one : all)
      for (auto& other : all)
        if (!(one == other)) one.wait_stream(other);
}
)"},
    {"train_in_parallel(", R"(void train_in_parallel(int replicas, int k) {
  td::nn::Linear linear(3, 2, {.device = td::try_gpu(0)});
  const auto whole = [](const td::Shape& sizes, int k) { return pattern(sizes, k, td::try_gpu(0)) * 4; };
  {
    td::NoGradGuard quiet;
    linear.weight.copy_(whole({2, 3}, k));
    linear.bias.copy_(whole({2}, k + 1));
  }
  std::vector<td::Device> devices;
  for (int i = 0; i < replicas; ++i) devices.push_back(td::try_gpu(i));
  td::parallel::DataParallel parallel(linear, devices);
  const td::Tensor y = parallel(whole({5, 3}, k + 2));
  y.backward(whole({5, 2}, k + 3));
  std::cout << y.cpu() << linear.weight.grad().cpu() << linear.bias.grad().cpu() << std::endl;
}
)"},
};

}  // namespace

void print(std::ostream& out, const Program& program, int gpus, const std::string& what) {
  std::ostringstream body;
  resolve(program, gpus, ".", &body, what);
  std::string text = body.str(), helpers;
  // From the last: a helper may need one before it.
  for (size_t i = std::size(kHelpers); i-- > 0;)
    if ((text + helpers).find(kHelpers[i].name) != std::string::npos) helpers = kHelpers[i].text + helpers;
  const auto uses = [&](const char* name) { return (text + helpers).find(name) != std::string::npos; };
  out << "#include <deque>\n#include <iostream>\n#include <thread>\n#include <utility>\n#include <vector>\n\n#include <tandem/tandem.h>\n\n"
      << "namespace td = tandem;\n\n"
      << helpers << "\nint main() {\n";
  if (gpus > 0) out << "  td::cuda::use_virtual_gpus(\"" << gpus << "x64MiB,delay_seed=7\");\n";
  if (uses("block["))
    out << "  for (int i = 0; i < 2; ++i)\n    for (int j = 0; j < 256; ++j) block[i][j] = float((j * 5 + i) % 11) / 4 - 1;\n";
  if (uses("stream(") && gpus > 0)
    out << "  for (int i = 0; i < " << gpus
        << "; ++i)\n    streams.push_back({td::cuda::default_stream(td::gpu(i)), td::cuda::Stream(td::gpu(i)), "
           "td::cuda::Stream(td::gpu(i))});\n";
  if (uses("shared["))
    out << "  for (int i = 0; i < 2; ++i) (shared[i] = td::full({6}, 1.0, i ? td::try_gpu(0) : td::cpu())).requires_grad_();\n";
  out << "  td::Tensor t[" << kSlots << "];\n" << text << "}\n";
}

}  // namespace fuzz
