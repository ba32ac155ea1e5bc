# SPDX-License-Identifier: Apache-2.0
"""Small models, trained: the losses are the CPU's within 1e-5 of their size."""

import torch
from torch import nn

from operators.inputs import values
from operators.row import Args, Row

STEPS = 20
# 1e-5 of a float32 in units of its last place.
CLOSE = 1e-5 / torch.finfo(torch.float32).eps


def seeded(make):
    """A model with the same weights on every device: made on the CPU, from one seed."""
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(4)
        return make()


def two_layers():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def gelu_layers():
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


class Transformer(nn.Module):
    """One block with one head and no dropout, over a vocabulary of 8, in six tokens."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 16)
        self.before = nn.LayerNorm(16)
        self.mixed = nn.Linear(16, 48)
        self.after = nn.LayerNorm(16)
        self.wide = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.out = nn.Linear(16, 8)

    def forward(self, tokens):
        x = self.embed(tokens)
        query, key, value = self.mixed(self.before(x)).chunk(3, dim=-1)
        scores = query @ key.transpose(1, 2) / 4
        ahead = torch.ones(6, 6, dtype=torch.bool, device=x.device).triu(1)
        x = x + scores.masked_fill(ahead, float("-inf")).softmax(-1) @ value
        return self.out(x + self.wide(self.after(x))).flatten(0, 1)


def losses(make, optimise, measure):
    def call(x, target):
        model = seeded(make).to(x.device)
        optimiser = optimise(model.parameters())
        lost = []
        for _ in range(STEPS):
            optimiser.zero_grad()
            loss = measure(model(x), target)
            loss.backward()
            optimiser.step()
            lost.append(loss.detach())
        assert lost[-1].item() < lost[0].item(), "nothing was learnt"
        return lost

    return call


def regression(dtype):
    yield Args(values((12, 8), dtype, 1, -1, 1), values((12, 4), dtype, 2, -1, 1))


def classes(dtype):
    yield Args(values((12, 8), dtype, 1, -1, 1), values((12,), torch.int64, 2, 0, 3))


def tokens(_):
    written = values((5, 7), torch.int64, 3, 0, 7)
    yield Args(written[:, :-1].contiguous(), written[:, 1:].reshape(-1))


def sgd(**kwargs):
    return lambda parameters: torch.optim.SGD(parameters, lr=0.1, **kwargs)


def adam(kind=torch.optim.Adam, **kwargs):
    return lambda parameters: kind(parameters, lr=0.01, **kwargs)


def clipped(x, target):
    """One step with its gradient clipped: the norm, and the weights after it."""
    model = seeded(two_layers).to(x.device)
    nn.functional.mse_loss(model(x), target).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    sgd()(model.parameters()).step()
    return [norm, *(weight.detach() for weight in model.parameters())]


def linear_under_autocast(dtype):
    def call(x, _):
        model = seeded(two_layers).to(x.device)
        with torch.autocast(x.device.type, dtype=dtype):
            result = model(x)
        result.float().square().mean().backward()
        return [result.float(), *(weight.grad for weight in model.parameters())]

    return call


MSE = nn.functional.mse_loss
CROSS_ENTROPY = nn.functional.cross_entropy
FLOAT = (torch.float32,)
# Products of halves are rounded to a half once, from sums in any order: a step of bfloat16.
HALF_STEP = torch.finfo(torch.bfloat16).eps / torch.finfo(torch.float32).eps

ROWS = [
    Row("train-sgd", losses(two_layers, sgd(), MSE), regression, FLOAT, ulp=CLOSE),
    Row("train-momentum", losses(two_layers, sgd(momentum=0.9), MSE), regression, FLOAT, ulp=CLOSE),
    Row(
        "train-sgd-one-by-one",
        losses(two_layers, sgd(foreach=False, weight_decay=0.01), MSE),
        regression,
        FLOAT,
        ulp=CLOSE,
    ),
    Row("train-adam", losses(two_layers, adam(), CROSS_ENTROPY), classes, FLOAT, ulp=CLOSE),
    Row(
        "train-adam-one-by-one",
        losses(two_layers, adam(foreach=False), MSE),
        regression,
        FLOAT,
        ulp=CLOSE,
    ),
    Row(
        "train-adamw",
        losses(gelu_layers, adam(torch.optim.AdamW), MSE),
        regression,
        FLOAT,
        ulp=CLOSE,
    ),
    Row(
        "train-transformer",
        losses(Transformer, adam(), CROSS_ENTROPY),
        tokens,
        (torch.int64,),
        ulp=CLOSE,
        core=True,
    ),
    Row(
        "train-adamw-fused",
        losses(two_layers, adam(torch.optim.AdamW, fused=True), MSE),
        regression,
        FLOAT,
        ulp=CLOSE,
    ),
    Row("clip_grad_norm", clipped, regression, FLOAT, ulp=CLOSE),
    *(
        Row(f"autocast-{name}", linear_under_autocast(dtype), regression, FLOAT, ulp=HALF_STEP)
        for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16))
    ),
]
