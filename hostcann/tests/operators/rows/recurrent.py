# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, with their gradients."""

import torch
from torch import nn

from operators.inputs import values
from operators.row import Args, OfLargest, Row
from operators.rows.neural import CHAIN
from operators.rows.training import seeded

FLOAT = (torch.float32,)
# The CPU may run a whole layer in one kernel, which adds in another order at every step.
STEPPED = OfLargest(CHAIN * 4)


def layer(make, states=1):
    """The output, the last states, and every gradient."""

    def call(x, *initial):
        network = seeded(make).to(x.device)
        x = x.detach().requires_grad_()
        given = [state.detach().requires_grad_() for state in initial]
        out, last = network(x, tuple(given) if states > 1 else given[0]) if given else network(x)
        last = last if isinstance(last, tuple) else (last,)
        total = sum(
            (t * torch.linspace(-1, 1, t.numel(), device=x.device).view(t.shape)).sum()
            for t in (out, *last)
        )
        total.backward()
        leaves = (x, *given, *network.parameters())
        return [out, *last, *(leaf.grad for leaf in leaves)]

    return call


def sequences(passes, states):
    def samples(dtype):
        yield Args(values((5, 2, 4), dtype, 1, -1, 1))
        yield Args(
            values((3, 2, 4), dtype, 1, -1, 1),
            *(values((passes, 2, 6), dtype, n + 2, -1, 1) for n in range(states)),
        )

    return samples


def without_gradient(make):
    def call(x):
        with torch.no_grad():
            out, last = seeded(make).to(x.device).eval()(x)
        return [out, *(last if isinstance(last, tuple) else (last,))]

    return call


GRUS = {
    "gru": ({}, 1),
    "gru-two-layers": ({"num_layers": 2}, 2),
    "gru-both-ways": ({"bidirectional": True, "num_layers": 2}, 4),
    "gru-batch-first": ({"batch_first": True}, None),
    "gru-no-bias": ({"bias": False}, 1),
}


def gru(options):
    return lambda: nn.GRU(4, 6, **options)


ROWS = [
    Row("lstm", layer(lambda: nn.LSTM(4, 6), 2), sequences(1, 2), FLOAT, ulp=STEPPED),
    Row(
        "lstm-eval",
        without_gradient(lambda: nn.LSTM(4, 6)),
        sequences(1, 0),
        FLOAT,
        ulp=STEPPED,
    ),
    Row(
        "lstm-two-layers",
        layer(lambda: nn.LSTM(4, 6, num_layers=2), 2),
        sequences(2, 2),
        FLOAT,
        ulp=STEPPED,
    ),
    Row(
        "lstm-batch-first",
        layer(lambda: nn.LSTM(4, 6, batch_first=True), 2),
        sequences(1, 0),
        FLOAT,
        ulp=STEPPED,
    ),
    *(
        Row(
            name,
            layer(gru(options)),
            sequences(passes or 1, 1 if passes else 0),
            FLOAT,
            ulp=STEPPED,
        )
        for name, (options, passes) in GRUS.items()
    ),
    Row("gru-eval", without_gradient(gru({})), sequences(1, 0), FLOAT, ulp=STEPPED),
]
