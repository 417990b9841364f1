// A primitive of oneDNN with its arguments, and the memory objects that it runs on. For onednn*.cpp.
#pragma once

#include <initializer_list>

#include "kernels/cpu/onednn_version.h"

namespace tandem::kernels::cpu {

/// A primitive, and what its arguments look like.
class DnnlStep {
 public:
  class Arguments;

  DnnlStep() = default;
  DnnlStep(const DnnlStep&) = delete;
  DnnlStep& operator=(const DnnlStep&) = delete;
  ~DnnlStep() { dnnl_primitive_destroy(primitive_); }
  dnnl_status_t make(const_dnnl_primitive_desc_t desc) { return dnnl_primitive_create(&primitive_, desc); }
  /// A reorder, with its arguments: from, to.
  dnnl_status_t make_reorder(const DnnlLayout& from, const DnnlLayout& to, const_dnnl_primitive_attr_t attributes);
  void add(int name, const DnnlLayout& layout) { described_[count_++] = {name, layout}; }
  [[nodiscard]] bool made() const { return primitive_ != nullptr; }
  /// `data` in the order of `add`.
  int run(Arguments& arguments, std::initializer_list<const void*> data) const;

 private:
  static constexpr int kMaxCount = 5;
  struct Described {
    int name;
    DnnlLayout layout;
  };
  dnnl_primitive_t primitive_ = nullptr;
  Described described_[kMaxCount];  // the first count_
  int count_ = 0;
};

/// The memory objects that it runs on, pointed elsewhere for each call.
class DnnlStep::Arguments {
 public:
  explicit Arguments(const DnnlStep& of) {
    for (; count_ < of.count_ && status_ == dnnl_success; ++count_) {
      const Described& argument = of.described_[count_];
      list_[count_].arg = argument.name;
      status_ = dnnl_memory_create(&list_[count_].memory, argument.layout.get(), dnnl_shared_engine(), DNNL_MEMORY_NONE);
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (int i = 0; i < count_; ++i) dnnl_memory_destroy(list_[i].memory);
  }

 private:
  friend class DnnlStep;
  dnnl_exec_arg_t list_[kMaxCount] = {};
  int count_ = 0;
  dnnl_status_t status_ = dnnl_success;
};

/// What oneDNN calls the code that it has chosen.
inline const char* dnnl_code_name(const_dnnl_primitive_desc_t desc) {
  const char* name = "";
  dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
  return name;
}

}  // namespace tandem::kernels::cpu
