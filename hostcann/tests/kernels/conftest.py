# SPDX-License-Identifier: Apache-2.0
"""What the tests of kernels share: tensors on the device, and every check on and off."""

import pytest
import torch


@pytest.fixture(params=["", "all"], ids=["plain", "checked"])
def checks(request, monkeypatch):
    monkeypatch.setenv("HOSTCANN_CHECK", request.param)


class Memory:
    """Tensors on the device: made for a test, freed after it."""

    def __init__(self, device, stream):
        self.device, self.stream, self.held = device, stream, []

    def give(self, tensor):
        address = self.device.upload(tensor.contiguous().view(torch.uint8).numpy())
        self.held.append(address)
        return address

    def take(self, address, like):
        count = like.numel() * like.element_size()
        raw = self.device.download(address, "uint8", count)
        return torch.from_numpy(raw).view(like.dtype).reshape(like.shape)

    def finish(self):
        return self.device.synchronize(self.stream)


@pytest.fixture
def memory(device, stream):
    made = Memory(device, stream)
    yield made
    for address in made.held:
        device.call("aclrtFree", address)
