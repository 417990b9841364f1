// A random tensor program: a list of operations on sixteen tensors, written down so that any part of the list is a program too.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace fuzz {

enum class Kind : uint8_t {
  // values
  Make,      // t[out] = a pattern of the p-th sizes, made on `device`
  Leaf,      // the same, a leaf that requires a gradient
  Blob,      // t[out] = from_blob(the q-th block of the program's own memory)
  BlobUse,   // t[out] = the p-th function of a temporary from_blob
  AliasUse,  // t[out] = the p-th function of a temporary from_blob of t[a]'s own memory
  Unary,     // t[out] = the p-th function of t[a]
  Chain,     // t[out] = the q-th function of the p-th: the inner result is a temporary
  Binary,    // t[out] = the p-th function of t[a] and t[b]
  View,      // t[out] = the p-th view of t[a]
  Reduce,    // t[out] = the p-th reduction of t[a]
  InPlace,   // the p-th change of t[a], by t[b] where it takes one
  // handles and places
  Copy,       // t[out] = t[a] on `device`, p: how
  Broadcast,  // t[out], t[out2] = t[a], t[b] sent to `device` in one parcel
  Alias,      // t[out] = t[a]
  Free,       // t[a] = Tensor()
  SaveLoad,   // t[out] = t[a], through a file
  Print,      // reads t[a]
  // gradients
  Detach,
  DetachInPlace,
  RetainGrad,
  Hook,          // on t[a], what the p-th kind does
  RemoveHook,    // the hook that operation q registered
  Backward,      // from t[a], p: retain the graph
  BackwardBlob,  // the same, with a gradient that is a temporary from_blob
  Grad,          // t[out] = grad(t[a], t[b]), t[out2] with respect to it and another one where that is given in q
  TakeGrad,      // t[out] = t[a].grad()
  ClearGrad,
  Step,    // an optimizer's step with t[a]
  Shared,  // p passes of backward into a leaf that all threads share
  // devices
  Parallel,  // a small module on p + 1 devices
  Synchronize,
};
inline constexpr int kKinds = static_cast<int>(Kind::Synchronize) + 1;
inline constexpr int kSlots = 16, kStreams = 3, kThreads = 3, kBlobs = 2, kShared = 2;

/// The thread that a tensor belongs to while several run: 0 (the main one, which then waits), 1 or 2.
constexpr int owner_of(int slot) { return slot < 10 ? 0 : slot < 13 ? 1 : 2; }

struct Operation {
  Kind kind = Kind::Free;
  int out = -1, out2 = -1, a = -1, b = -1;
  int device = -1;  // -1: the CPU
  int stream = 0;
  int thread = 0;   // neighbours with threads other than 0 run side by side
  int capture = 0;  // neighbours with the same number other than 0 are captured and replayed
  int p = 0, q = 0;
  int temporary = 0;  // t[a] is handed over as a temporary
  int no_grad = 0;
  int event = 0;   // streams that read the result wait for an event, not for the stream
  int number = 0;  // its own, kept when others are taken away
};

using Program = std::vector<Operation>;

const char* name_of(Kind kind);
/// Of a kind's name or a feature's ("hooks"): one bit for each kind. Exits where there is no such name.
uint64_t kinds_of(const std::string& names);
/// The features by name, for the help text.
std::string feature_names();

/// One line an operation.
void write(std::ostream& out, const Program& program);
Program read_program(std::istream& in);

}  // namespace fuzz
