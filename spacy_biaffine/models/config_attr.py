"""Settings of a layer that the config rules, also when weights are loaded."""

from typing import Any

from thinc.api import Model, deserialize_attr


class ConfigInt(int):
    """A whole number among a layer's attributes that loading leaves as the config has set it.

    Thinc saves attributes with the weights, and puts them back over the config's. That would make
    a limit of memory a thing that can't be changed without a new training.
    """


@deserialize_attr.register(ConfigInt)
def keep(attr: ConfigInt, value: bytes, name: str, model: Model) -> Any:
    """The value that is there."""
    return attr
