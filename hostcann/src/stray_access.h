// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hostcann {

// Puts a sentence on stderr when somebody touches device memory that is not theirs to touch, and
// leaves the signal to whoever handled it before. Installs itself once.
void explain_stray_accesses();

}  // namespace hostcann
