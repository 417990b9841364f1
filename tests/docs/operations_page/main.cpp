// Writes docs/operations.md: every operation with its dtypes, gradient and backends, and those of docs/operations.list that are missing.
//   operations_page ROOT GENERATED           writes it
//   operations_page ROOT GENERATED --check   exits with 1 where it is not what would be written
// What an operation takes and gives comes from its struct (tests/cases), which the tests hold it to; that it exists, from the headers; what
// a GPU needs for it, from running it on a virtual GPU that has only the kernels that kernels/cuda/ puts into its table.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cases/case.h"
#include "kernels/missing.h"

namespace {

using namespace tandem;
using cases::Operation;
using std::filesystem::path;

std::string read(const path& file) {
  std::ifstream in(file);
  if (!in) fail("cannot read ", file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Group {
  std::string title;
  std::vector<std::string> names;
};

std::vector<Group> groups_of(const path& list) {
  std::vector<Group> groups;
  std::istringstream lines(read(list));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(':');
    std::istringstream words(line.substr(colon + 1));
    Group group{line.substr(0, colon), {}};
    for (std::string word; words >> word;) group.names.push_back(word);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// The names that public headers declare as functions; those of a namespace such as linalg with it: "linalg.inv".
std::set<std::string> declared_in(const std::vector<path>& folders) {
  std::set<std::string> names;
  const std::regex comment("//[^\n]*"), function("\\b(\\w+)\\("), space("namespace tandem::(\\w+)");
  for (const path& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".inc") continue;
      const std::string text = std::regex_replace(read(entry.path()), comment, "");
      std::smatch found;
      const std::string prefix = std::regex_search(text, found, space) ? found[1].str() + "." : "";
      for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at) names.insert(prefix + (*at)[1].str());
    }
  return names;
}

// --- What the CUDA back end has

std::set<std::string> matches(const std::string& text, const char* expression) {
  std::set<std::string> found;
  const std::regex regex(expression);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) found.insert((*at)[1].str());
  return found;
}

/// The virtual GPUs' kernels, without those that kernels/cuda/own.cpp leaves to libraries and vendor/vendor.cpp does not have.
kernels::Table cuda_entries_only(const path& folder) {
  const auto left_out = matches(read(folder / "own.cpp"), "\"(\\w+)\"");
  const auto of_libraries = matches(read(folder / "vendor/vendor.cpp"), "\\.(\\w+) = ");
  kernels::Table table = kernels::virtual_table();
  kernels::for_each_entry([&]<auto Entry>(const char* name) {
    if (left_out.contains(name) && !of_libraries.contains(name)) table.*Entry = kernels::kMissing;
  });
  return table;
}

bool runs_on(const Operation& operation, Device device) {
  try {
    for (const cases::Sample& sample : operation.samples()) {
      cases::Arguments arguments;
      for (const cases::Argument& argument : sample.arguments)
        arguments.push_back(argument.map([&](const Tensor& x) {
          const bool takes_it = !x.is_floating_point() || cases::has(operation.dtypes, x.dtype());
          return (takes_it ? x : (abs(x) + 1).to(kInt64)).to(device);
        }));
      (void)operation.run(arguments);
      if (device.is_cuda()) cuda::synchronize(device);
    }
    return true;
  } catch (const NotImplementedError&) {
    return false;
  }
}

// --- The page

std::string dtypes_text(cases::DTypes dtypes) {
  if (dtypes == cases::kAnyType) return "all";
  if (dtypes == cases::kNumbers) return "floating, integers";
  if (dtypes == cases::kFloating) return "floating";
  if (dtypes == (cases::kIntegers | cases::only(kBool))) return "integers, bool";
  std::string out;
  for (int i = 0; i < kDTypes; ++i)
    if (cases::has(dtypes, static_cast<DType>(i))) out += (out.empty() ? "" : ", ") + std::string(name(static_cast<DType>(i)));
  return out;
}

std::string row(const Operation& operation, const kernels::Table& cuda_entries) {
  std::string torch = operation.torch;
  if (!torch.empty() && !torch.starts_with("Tensor.")) torch = "torch." + torch;
  const bool differentiates = operation.gradient && (operation.dtypes & cases::kFloating);
  const bool virtual_gpu = runs_on(operation, gpu(0));
  kernels::set_gpu_table(cuda_entries);
  const bool cuda = runs_on(operation, gpu(0));
  kernels::set_gpu_table(kernels::virtual_table());
  return "| `" + operation.name + "` | " + (torch.empty() ? "" : "`" + torch + "`") + " | " + dtypes_text(operation.dtypes) + " | " +
         (!differentiates   ? "no"
          : operation.twice ? "yes, twice"
                            : "yes") +
         " | " + (runs_on(operation, cpu()) ? "yes" : "no") + " | " + (virtual_gpu ? "yes" : "no") + " | " + (cuda ? "yes" : "no") + " |\n";
}

std::string page(const path& root, const path& generated) {
  const kernels::Table cuda_entries = cuda_entries_only(root / "src/kernels/cuda");
  const auto declared = declared_in({root / "src/ops", root / "src/tensor", generated});
  std::map<std::string, std::vector<const Operation*>> structs;  // by the names the list may use
  std::set<const Operation*> left;
  for (const Operation& operation : cases::operations()) {
    structs[operation.name].push_back(&operation);
    const std::string short_name = operation.torch.substr(operation.torch.starts_with("nn.functional.") ? 14 : 0);
    if (short_name != operation.name && !short_name.empty()) structs[short_name].push_back(&operation);
    left.insert(&operation);
  }
  std::string tables, missing;
  const std::string head = "| operation | PyTorch | dtypes | gradient | CPU | virtual | CUDA |\n|---|---|---|---|---|---|---|\n";
  for (const Group& group : groups_of(root / "docs/operations.list")) {
    std::string rows, others;
    for (const std::string& name : group.names) {
      if (const auto found = structs.find(name); found != structs.end()) {
        for (const Operation* operation : found->second)
          if (left.erase(operation)) rows += row(*operation, cuda_entries);
      } else if (declared.contains(name)) {
        others += (others.empty() ? "`" : ", `") + name + "`";
      } else {
        missing += (missing.empty() ? "`" : ", `") + name + "`";
      }
    }
    tables += "\n## " + group.title + "\n";
    if (!rows.empty()) tables += "\n" + head + rows;
    if (!others.empty()) tables += "\nWithout a test struct: " + others + ".\n";
  }
  std::string rest;
  for (const Operation& operation : cases::operations())
    if (left.contains(&operation)) rest += row(operation, cuda_entries);
  return "# Operations\n\n"
         "Made by `./dev docs`; a test compares it with what the sources say now. Types, gradients and backends are those of the structs "
         "in\n"
         "`tests/cases/`, which the tests hold every operation to. *Floating* is float32, float64, float16 and bfloat16; *integers* "
         "are uint8, int8,\n"
         "int16, int32 and int64; *all* has bool too. *Twice*: the gradient has a gradient. CUDA: whether `src/kernels/cuda/` has all "
         "kernels it needs.\n" +
         tables + (rest.empty() ? "" : "\n## Others\n\n" + head + rest) + "\n## Missing\n\n" +
         (missing.empty() ? "None of `docs/operations.list`.\n" : "Of `docs/operations.list`: " + missing + ".\n");
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 4 && std::string(argv[3]) == "--check";
  if (argc != 3 && !check) {
    std::cerr << "usage: operations_page ROOT GENERATED [--check]\n";
    return 2;
  }
  try {
    cuda::use_virtual_gpus("1x64MiB");
    const path file = path(argv[1]) / "docs/operations.md";
    const std::string text = page(argv[1], argv[2]);
    if (check && (!std::filesystem::exists(file) || read(file) != text)) {
      std::cerr << "docs/operations.md is not what the sources say: run ./dev docs\n";
      return 1;
    }
    if (!check) std::ofstream(file) << text;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "operations_page: " << error.what() << "\n";
    return 1;
  }
}
