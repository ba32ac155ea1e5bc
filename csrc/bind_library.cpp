// SPDX-License-Identifier: Apache-2.0
#include <torch/library.h>

#include "ascendc_add.h"

// A fragment, so that another library may add its own operators to the namespace; a second
// definition of this schema still ends the process, which is why the Python loader looks before it
// loads.
TORCH_LIBRARY_FRAGMENT(ascendc_ops, m) { m.def("ascendc_add(Tensor x, Tensor y) -> Tensor"); }

TORCH_LIBRARY_IMPL(ascendc_ops, PrivateUse1, m) {
  m.impl("ascendc_add", &ascendc_ops::ascendc_add);
}

TORCH_LIBRARY_IMPL(ascendc_ops, Meta, m) { m.impl("ascendc_add", &ascendc_ops::ascendc_add_meta); }
