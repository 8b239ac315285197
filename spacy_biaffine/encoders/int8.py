"""Linear layers in eight bits, for encoders that are only read, on a CPU."""

import warnings
from typing import TypeVar

import torch
from torch import nn

ModuleT = TypeVar("ModuleT", bound=nn.Module)

REMEDY = "Set int8 = false, which gives the encoder's full precision."


def int8_copy(model: ModuleT) -> ModuleT:
    """A copy whose linear layers have weights of eight bits, scaled by output channel, and round
    their inputs to eight bits as they come.

    Raises ValueError where the model is not on a CPU, or this build of torch has no such layers.
    """
    device = next(model.parameters()).device
    if device.type != "cpu":
        raise ValueError(f"FrozenTransformer: int8 runs on CPUs alone, not on {device}. {REMEDY}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated in torch 2.8, without a replacement in it
            from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

            kinds = {nn.Linear: per_channel_dynamic_qconfig}
            return quantize_dynamic(model, kinds, dtype=torch.qint8)
    except (ImportError, AttributeError, RuntimeError, NotImplementedError) as error:
        raise ValueError(
            f"FrozenTransformer: int8 does not run with torch {torch.__version__} on this CPU "
            f"({error}). {REMEDY}"
        ) from error
