#include "program.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

namespace fuzz {
namespace {

constexpr const char* kNames[kKinds] = {
    "Make",     "Leaf",         "Blob",  "BlobUse",  "AliasUse",  "Unary", "Chain",  "Binary",        "View",       "Reduce", "InPlace",
    "Copy",     "Broadcast",    "Alias", "Free",     "SaveLoad",  "Print", "Detach", "DetachInPlace", "RetainGrad", "Hook",   "RemoveHook",
    "Backward", "BackwardBlob", "Grad",  "TakeGrad", "ClearGrad", "Step",  "Shared", "Parallel",      "Synchronize"};

constexpr uint64_t bit(Kind kind) { return uint64_t{1} << static_cast<int>(kind); }

struct Feature {
  const char* name;
  uint64_t kinds;
};
// Beside the kinds themselves. Threads, streams and graphs are no kinds; their bits follow the last one's.
constexpr Feature kFeatures[] = {
    {"blobs", bit(Kind::Blob) | bit(Kind::BlobUse) | bit(Kind::AliasUse) | bit(Kind::BackwardBlob)},
    {"views", bit(Kind::View)},
    {"temporaries", bit(Kind::Chain) | uint64_t{1} << (kKinds + 3)},
    {"hooks", bit(Kind::Hook) | bit(Kind::RemoveHook)},
    {"retain_grad", bit(Kind::RetainGrad)},
    {"gradients", bit(Kind::Leaf) | bit(Kind::Backward) | bit(Kind::TakeGrad) | bit(Kind::ClearGrad) | bit(Kind::Step)},
    {"grad", bit(Kind::Grad)},
    {"broadcast", bit(Kind::Broadcast)},
    {"files", bit(Kind::SaveLoad)},
    {"parallel", bit(Kind::Parallel)},
    {"streams", uint64_t{1} << kKinds},
    {"threads", uint64_t{1} << (kKinds + 1) | bit(Kind::Shared)},
    {"graphs", uint64_t{1} << (kKinds + 2)},
};

}  // namespace

const char* name_of(Kind kind) { return kNames[static_cast<int>(kind)]; }

uint64_t kinds_of(const std::string& names) {
  uint64_t kinds = 0;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) {
    uint64_t found = 0;
    for (const Feature& feature : kFeatures)
      if (name == feature.name) found = feature.kinds;
    for (int i = 0; i < kKinds; ++i)
      if (name == kNames[i]) found = uint64_t{1} << i;
    if (!found) {
      std::fprintf(stderr, "fuzz programs: there is no feature '%s': there is %s, and the kinds of operations\n", name.c_str(),
                   feature_names().c_str());
      std::exit(2);
    }
    kinds |= found;
  }
  return kinds;
}

std::string feature_names() {
  std::string names;
  for (const Feature& feature : kFeatures) names += (names.empty() ? "" : ", ") + std::string(feature.name);
  return names;
}

void write(std::ostream& out, const Program& program) {
  for (const Operation& o : program)
    out << name_of(o.kind) << ' ' << o.out << ' ' << o.out2 << ' ' << o.a << ' ' << o.b << ' ' << o.device << ' ' << o.stream << ' '
        << o.thread << ' ' << o.capture << ' ' << o.p << ' ' << o.q << ' ' << o.temporary << ' ' << o.no_grad << ' ' << o.event << ' '
        << o.number << '\n';
}

Program read_program(std::istream& in) {
  Program program;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    Operation o;
    if (!(words >> kind >> o.out >> o.out2 >> o.a >> o.b >> o.device >> o.stream >> o.thread >> o.capture >> o.p >> o.q >> o.temporary >>
          o.no_grad >> o.event >> o.number))
      continue;
    for (int i = 0; i < kKinds; ++i)
      if (kind == kNames[i]) {
        o.kind = static_cast<Kind>(i);
        program.push_back(o);
      }
  }
  return program;
}

}  // namespace fuzz
