# SPDX-License-Identifier: Apache-2.0


def test_row(case, subject):
    case.row.check(subject)
    # A fault of the device surfaces at the next synchronisation: here, so that this row has it.
    subject.device.settle()
