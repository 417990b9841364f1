// The line of the user's Python program that a call stands on, for every error, ledger row and report.
#pragma once

#include "python.h"

namespace tandem::python {

/// The innermost line of Python outside of the package itself; no line where no Python runs. Costs a look into a table. The name of the
/// file lives as long as the process.
[[nodiscard]] Site caller();

/// The same, in force until the end of the scope: what is refused meanwhile names it.
class AtCaller : public Site::InForce {
 public:
  AtCaller() : AtCaller(caller()) {}

 private:
  explicit AtCaller(Site site) : Site::InForce(site.file, site.line) {}
};

/// Code below this folder is the package's own: its lines are passed over. Set once, by the package.
void set_package_folder(const char* folder);

/// Called with the file name of a notebook's code, gives the name that its reader knows, such as In[7], or None. Set once, by the package.
void set_cell_namer(PyObject* namer);

}  // namespace tandem::python
