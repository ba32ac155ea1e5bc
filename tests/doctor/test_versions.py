# SPDX-License-Identifier: Apache-2.0
"""Every pairing of the compatibility tables is one for the doctor, and no other is."""

import pytest
from ascendc_env import versions
from ascendc_env.mismatch import release

KNOWN = versions.load()
ROWS = {
    (cann, torch_npu)
    for table in KNOWN["compatibility"].values()
    for cann, torch_npus in table.items()
    for torch_npu in torch_npus
}
CANNS = sorted({cann for cann, _ in ROWS})
TORCHES = sorted({release(torch_npu) for _, torch_npu in ROWS})


@pytest.mark.parametrize("cann", CANNS)
def test_a_torch_gets_the_torch_npu_of_its_cann(cann: str) -> None:
    found = {torch: versions.torch_npu_for(KNOWN, torch, cann) for torch in TORCHES}
    for torch, right in found.items():
        pairs = {n for other, n in ROWS if other == cann and release(n) == torch}
        assert right in (pairs or {""})


@pytest.mark.parametrize(
    ("torch", "cann", "right"),
    [
        pytest.param("2.4.0", "8.0.RC3", "2.4.0", id="third-candidate"),
        pytest.param("2.3.1", "8.0.RC2", "2.3.1", id="second-candidate"),
        pytest.param("2.4.0", "8.0.0", "2.4.0.post2", id="final-release"),
        pytest.param("2.4.0", "8.0.1", "2.4.0.post2", id="after-the-final-release"),
        pytest.param("2.8.0", "8.3.RC2", "2.8.0", id="candidate-of-no-table"),
        pytest.param("2.9.0", "9.1.0", "2.9.0.post6", id="vendor-table-before-its-images"),
    ],
)
def test_a_cann_of_several_candidates(torch: str, cann: str, right: str) -> None:
    assert versions.torch_npu_for(KNOWN, torch, cann) == right


@pytest.mark.parametrize("cann", CANNS)
def test_a_torch_npu_is_for_the_canns_of_its_rows_alone(cann: str) -> None:
    every = {torch_npu for _, torch_npu in ROWS}
    right = {n for n in every if not versions.other_cann(KNOWN, release(n), n, cann)}
    assert right == {torch_npu for other, torch_npu in ROWS if other == cann}
