#include "kernels/cpu/onednn_step.h"

namespace tandem::kernels::cpu {

int DnnlStep::run(Arguments& arguments, std::initializer_list<const void*> data) const {
  if (arguments.status_ != dnnl_success) return arguments.status_;
  int i = 0;
  for (const void* pointer : data) {
    if (i == arguments.count_) break;
    dnnl_memory_set_data_handle(arguments.list_[i++].memory, const_cast<void*>(pointer));
  }
  const SingleOpenMp single;
  return dnnl_primitive_execute(primitive_, dnnl_thread_stream(), arguments.count_, arguments.list_);
}

dnnl_status_t DnnlStep::make_reorder(const DnnlLayout& from, const DnnlLayout& to, const_dnnl_primitive_attr_t attributes) {
  dnnl_primitive_desc_t desc = nullptr;
  dnnl_status_t status =
      dnnl_reorder_primitive_desc_create(&desc, from.get(), dnnl_shared_engine(), to.get(), dnnl_shared_engine(), attributes);
  if (status != dnnl_success) return status;
  status = DnnlLayout::of(desc, dnnl_query_scratchpad_md).bytes() != 0 ? dnnl_unimplemented : make(desc);
  add(DNNL_ARG_FROM, from);
  add(DNNL_ARG_TO, to);
  dnnl_primitive_desc_destroy(desc);
  return status;
}

}  // namespace tandem::kernels::cpu
