"""The cells of LSTM and GRU that torch fuses on every accelerator and has no CPU kernel for, on tensors of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def lstm(inputs: Tensor, hidden: Tensor, cell: Tensor, *biases: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    gates = sum((bias for bias in biases if bias is not None), inputs + hidden)
    enter, keep, new, out = gates.chunk(4, 1)
    enter, keep, new, out = enter.sigmoid(), keep.sigmoid(), new.tanh(), out.sigmoid()
    after = keep * cell + enter * new
    return out * after.tanh(), after, torch.cat([enter, keep, new, out], 1)


def lstm_backward(
    by_hidden: Tensor | None, by_cell: Tensor | None, cell: Tensor, after: Tensor, gates: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    enter, keep, new, out = gates.chunk(4, 1)
    level = after.tanh()
    by_hidden = torch.zeros_like(after) if by_hidden is None else by_hidden
    by_after = by_hidden * out * (1 - level * level) + (0 if by_cell is None else by_cell)
    by_gates = torch.cat(
        [
            by_after * new * enter * (1 - enter),
            by_after * cell * keep * (1 - keep),
            by_after * enter * (1 - new * new),
            by_hidden * level * out * (1 - out),
        ],
        1,
    )
    return by_gates, by_after * keep, by_gates.sum(0) if has_bias else None


def gru(inputs: Tensor, hidden: Tensor, state: Tensor, *biases: Tensor | None) -> tuple[Tensor, Tensor]:
    first, second = [*biases, None, None][:2]
    inputs = inputs if first is None else inputs + first
    hidden = hidden if second is None else hidden + second
    (reset_in, keep_in, new_in), (reset_of, keep_of, new_of) = inputs.chunk(3, 1), hidden.chunk(3, 1)
    reset, keep = (reset_in + reset_of).sigmoid(), (keep_in + keep_of).sigmoid()
    new = (new_in + reset * new_of).tanh()
    return new + keep * (state - new), torch.cat([reset, keep, new, state, new_of], 1)


def gru_backward(by_state: Tensor, saved: Tensor, has_bias: bool) -> tuple[Tensor | None, ...]:
    reset, keep, new, state, new_of = saved.chunk(5, 1)
    by_new = by_state * (1 - keep) * (1 - new * new)
    by_keep = by_state * (state - new) * keep * (1 - keep)
    by_reset = by_new * new_of * reset * (1 - reset)
    by_inputs = torch.cat([by_reset, by_keep, by_new], 1)
    by_hidden = torch.cat([by_reset, by_keep, by_new * reset], 1)
    biases = (by_inputs.sum(0), by_hidden.sum(0)) if has_bias else (None, None)
    return (by_inputs, by_hidden, by_state * keep, *biases)


KERNELS: dict[Any, Callable[..., Any]] = {
    aten._thnn_fused_lstm_cell.default: lstm,
    aten._thnn_fused_lstm_cell_backward_impl.default: lstm_backward,
    aten._thnn_fused_gru_cell.default: gru,
    aten._thnn_fused_gru_cell_backward.default: gru_backward,
}
