# SPDX-License-Identifier: Apache-2.0
"""Every row of the sweep."""

from operators.rows import (
    comparison,
    creation,
    elementwise,
    indexing,
    neural,
    reduction,
    shaping,
    training,
)

FAMILIES = (creation, elementwise, comparison, reduction, indexing, shaping, neural, training)
ROWS = [row for family in FAMILIES for row in family.ROWS]
