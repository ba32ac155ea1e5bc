// SPDX-License-Identifier: Apache-2.0
#include "ascendc_add.h"
#include "define.h"

using ascendc_ops::define;
using torch::CppFunction;

// A fragment, so that another library may add its own operators to the namespace; a second
// definition of this schema still ends the process, which is why the Python loader looks before it
// loads.
TORCH_LIBRARY_FRAGMENT(ascendc_ops, m) {
  define(m, "ascendc_add(Tensor x, Tensor y) -> Tensor", CppFunction(&ascendc_ops::ascendc_add),
         CppFunction(&ascendc_ops::ascendc_add_meta));
}
