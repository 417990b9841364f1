// The user's line for functions whose signature, which libtorch settles, has no room for a Site.
#pragma once

#include "base/site.h"

namespace torch::detail {

/// The statement of the user's that the calling thread is in, as far as one of the calls on the way took a Site; no line otherwise.
inline tandem::Site statement() { return {tandem::detail::statement_line.file, tandem::detail::statement_line.line}; }

}  // namespace torch::detail
