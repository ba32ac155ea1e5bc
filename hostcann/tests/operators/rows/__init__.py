# SPDX-License-Identifier: Apache-2.0
"""Every row of the sweep."""

from operators.rows import (
    ascend,
    comparison,
    creation,
    elementwise,
    further,
    indexing,
    lists,
    neural,
    reduction,
    shaping,
    training,
    vision,
)

FAMILIES = (creation, elementwise, comparison, reduction, indexing, shaping, neural, vision)
FAMILIES = (*FAMILIES, lists, further, ascend, training)
ROWS = [row for family in FAMILIES for row in family.ROWS]
