#include "process/signature.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"

namespace tandem::multiprocessing::detail {
namespace {

struct Signatures {
  std::mutex mutex;
  std::vector<const Signature*> all;
};
Signatures& signatures() {
  static auto* the_signatures = new Signatures;  // not destroyed: modules may be unloaded later
  return *the_signatures;
}

/// A part of the program: itself, or a library that it has loaded.
struct Module {
  std::string id;
  uintptr_t base = 0;
};

/// The build id; where the module was linked without one, its segments' layout and its name.
std::string id_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr);
    const char* const end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const text = name + (note.n_namesz + 3) / 4 * 4;
      if (text + note.n_descsz > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
        return "build id " + std::string(text, note.n_descsz);
      at = text + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return "name " + std::string(info.dlpi_name) + ", layout " +
         std::string(reinterpret_cast<const char*>(info.dlpi_phdr), info.dlpi_phnum * sizeof(ElfW(Phdr)));
}

bool is_code(const dl_phdr_info& info, uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && address - (info.dlpi_addr + segment.p_vaddr) < segment.p_memsz)
      return true;
  }
  return false;
}

/// The module in whose code `address` lies; an empty id where there is none.
Module module_at(uintptr_t address) {
  struct Search {
    uintptr_t address;
    Module found;
  } search{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        auto& search = *static_cast<Search*>(context);
        if (!is_code(*info, search.address)) return 0;
        search.found = {id_of(*info), info->dlpi_addr};
        return 1;
      },
      &search);
  return search.found;
}

/// The address of `offset` in the module of that id; 0 where the module is not here, or has no code there.
uintptr_t address_in(std::string_view id, uint64_t offset) {
  struct Search {
    std::string_view id;
    uint64_t offset;
    uintptr_t found;
  } search{id, offset, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        auto& search = *static_cast<Search*>(context);
        if (id_of(*info) != search.id) return 0;
        if (is_code(*info, info->dlpi_addr + search.offset)) search.found = info->dlpi_addr + search.offset;
        return 1;
      },
      &search);
  return search.found;
}

void put_address(Parcel& parcel, uintptr_t address) {
  const Module module = module_at(address);
  if (module.id.empty()) fail('[', parcel.op(), "] the function lies in no module of the program: workers can run plain functions only");
  parcel.put_text(module.id);
  parcel.put<uint64_t>(address - module.base);
}

uintptr_t take_address(Received& received) {
  const std::string id(received.take_text());
  const auto offset = received.take<uint64_t>();
  const uintptr_t address = address_in(id, offset);
  if (address == 0)
    fail('[', received.op(),
         "] the worker has no such function: it must be in the program, or in a library that the program is linked with");
  return address;
}

}  // namespace

Signature::Signature(const char* function_type, void (*run_function)(AnyFunction, Received&)) : type(function_type), run(run_function) {
  Signatures& known = signatures();
  const std::lock_guard lock(known.mutex);
  known.all.push_back(this);
}

Signature::~Signature() {
  Signatures& known = signatures();
  const std::lock_guard lock(known.mutex);
  std::erase(known.all, this);
}

void put_function(Parcel& parcel, AnyFunction function, const Signature& signature) {
  put_address(parcel, reinterpret_cast<uintptr_t>(function));
  put_address(parcel, reinterpret_cast<uintptr_t>(signature.run));
  parcel.put_text(signature.type);
}

std::pair<AnyFunction, const Signature*> take_function(Received& received) {
  const uintptr_t function = take_address(received), run = take_address(received);
  const std::string type(received.take_text());
  Signatures& known = signatures();
  const std::lock_guard lock(known.mutex);
  for (const Signature* signature : known.all) {
    if (reinterpret_cast<uintptr_t>(signature->run) == run && type == signature->type)
      return {reinterpret_cast<AnyFunction>(function), signature};
  }
  fail('[', received.op(), "] the worker knows no functions of type ", type, ": it was not started by the same program");
}

void check_signature(const Signature& taken, const Signature& wanted, const char* op) {
  if (&taken != &wanted) refuse(op, str("a function of type ", taken.type, " in place of one of type ", wanted.type));
}

}  // namespace tandem::multiprocessing::detail
