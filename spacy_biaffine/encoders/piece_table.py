"""The embeddings of wordpieces of a pretrained encoder, which no training changes."""

from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np
import srsly
import torch
from thinc.api import Shim, get_torch_default_device, torch2xp
from thinc.types import Floats2d

from ..types import Ints
from .checkpoints import PACKAGE, locate

KEYS = ("embeddings.word_embeddings.weight", "word_embeddings.weight")
"""What the table is called in the weights of a BERT; those of others have a prefix before it."""


class PieceTable(Shim):
    """A table (pieces, width), float32. Saved by its digest where an installed package has it.

    name: where the encoder is from, as for `TunedTransformer`.
    """

    def __init__(self, name: str) -> None:
        super().__init__(None)
        self.name = name
        self.table: torch.Tensor | None = None

    def fill(self, weights: torch.Tensor) -> None:
        """Take over the weights."""
        self.table = weights.detach().float().clone().to(get_torch_default_device())

    def vectors(self, pieces: Ints) -> Floats2d:
        """(n, width) the rows of some pieces."""
        assert self.table is not None
        rows = torch.from_numpy(pieces).to(self.table.device)
        return cast(Floats2d, torch2xp(self.table.index_select(0, rows)))

    def finish_update(self, optimizer: Any) -> None:
        """Nothing: the table is frozen."""

    def to_device(self, device_type: str, device_id: int) -> None:
        if self.table is not None:
            device = torch.device("cuda", device_id) if device_type == "gpu" else device_type
            self.table = self.table.to(device)

    def to_bytes(self) -> bytes:
        message: dict[str, Any] = {"name": self.name, "digest": None, "table": None}
        if self.table is not None:
            table = self.table.cpu().numpy()
            message["digest"] = _digest(table)
            if not self.name.startswith(PACKAGE):
                message |= {"table": table.tobytes(), "width": table.shape[1]}
        return srsly.msgpack_dumps(message)

    def from_bytes(self, data: bytes) -> "PieceTable":
        message = srsly.msgpack_loads(data)
        self.name, self.table = message["name"], None
        if message["digest"] is None:
            return self
        if message["table"] is not None:
            rows = np.frombuffer(message["table"], dtype="float32").copy()
            self.fill(torch.from_numpy(rows.reshape(-1, message["width"])))
            return self
        table = _table_of_package(self.name)
        if _digest(table.numpy()) != message["digest"]:
            raise ValueError(
                f"TunedTransformer: {self.name!r} has other wordpieces than those that this "
                f"pipeline was trained on. Install the version that its meta.json names."
            )
        self.fill(table)
        return self


def _digest(table: np.ndarray) -> str:
    return blake2b(np.ascontiguousarray(table).tobytes(), digest_size=12).hexdigest()


def _table_of_package(name: str) -> torch.Tensor:
    """The table in the weights of an installed package. Raises OSError where there is none."""
    from safetensors import safe_open

    path = Path(locate(name, "TunedTransformer")) / "model.safetensors"
    if not path.exists():
        raise OSError(f"TunedTransformer: {name!r} has no model.safetensors. Install it again.")
    with safe_open(path, framework="pt") as file:
        for key in file.keys():  # noqa: SIM118 (it is no dict)
            if key.endswith(KEYS):
                return file.get_tensor(key).float()
    raise OSError(f"TunedTransformer: {path} holds no embeddings of wordpieces.")
