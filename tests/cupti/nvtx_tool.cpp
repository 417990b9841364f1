// A tool in the place of Nsight Systems: NVTX loads it, and it notes the ranges that it is told.
#include <nvtx3/nvToolsExt.h>

#include <string>
#include <vector>

namespace {

std::vector<std::string>& ranges() {
  static auto* const all = new std::vector<std::string>;
  return *all;
}

nvtxDomainHandle_t create_domain(const char* name) {
  ranges().push_back(std::string("domain ") + name);
  return reinterpret_cast<nvtxDomainHandle_t>(&ranges());
}
int push(nvtxDomainHandle_t, const nvtxEventAttributes_t* range) {
  ranges().emplace_back(range->message.ascii);
  return 0;
}
int pop(nvtxDomainHandle_t) {
  ranges().emplace_back("end");
  return 0;
}

template <class Function>
NvtxFunctionPointer pointer(Function* function) {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &size)) return 0;
  *functions[NVTX_CBID_CORE2_DomainCreateA] = pointer(create_domain);
  *functions[NVTX_CBID_CORE2_DomainRangePushEx] = pointer(push);
  *functions[NVTX_CBID_CORE2_DomainRangePop] = pointer(pop);
  return 1;
}

extern "C" [[gnu::visibility("default")]] std::vector<std::string>* nvtx_ranges() { return &ranges(); }
