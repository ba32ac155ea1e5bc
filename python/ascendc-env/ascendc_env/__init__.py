# SPDX-License-Identifier: Apache-2.0
"""Tells what of an Ascend software stack does not belong together: `ascendc-env doctor`."""
