"""Weights rounded to half precision."""

from collections.abc import Iterator

import numpy as np
import torch
from spacy.language import Language
from thinc.api import Model, PyTorchShim


def round_weights(nlp: Language) -> float:
    """Give every weight the nearest value that half precision has; its type stays float32.

    What is not saved with the pipeline, or no weight, stays as it is. Returns the largest change.
    Raises ValueError for weights beyond the range of half precision.
    """
    lost = 0.0
    for name, pipe in nlp.pipeline:
        for weight in weights_of(pipe.model) if hasattr(pipe, "model") else ():
            with np.errstate(over="ignore"):
                rounded = weight.astype(np.float16).astype(weight.dtype)
            if not np.isfinite(rounded).all():
                raise ValueError(f"{name}: a weight of {np.abs(weight).max()} is too large")
            lost = max(lost, float(np.abs(rounded - weight).max(initial=0.0)))
            weight[...] = rounded
    return lost


def weights_of(model: Model) -> Iterator[np.ndarray]:
    """Arrays that share memory with the weights of all layers and modules, on the CPU."""
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                yield node.get_param(name)
        for shim in node.shims:
            if isinstance(shim, PyTorchShim) and shim._model is not None:
                for tensor in shim._model.state_dict().values():
                    if tensor.dtype == torch.float32:
                        yield tensor.detach().numpy()
