# SPDX-License-Identifier: Apache-2.0
"""Every row of the sweep."""

from operators.rows import (
    ascend,
    attention,
    comparison,
    creation,
    elementwise,
    further,
    indexing,
    lists,
    neural,
    recurrent,
    reduction,
    shaping,
    training,
    vision,
)

FAMILIES = (creation, elementwise, comparison, reduction, indexing, shaping, neural, vision)
FAMILIES = (*FAMILIES, lists, further, ascend, attention, recurrent, training)
ROWS = [row for family in FAMILIES for row in family.ROWS]
