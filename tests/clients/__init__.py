"""A script for each library that uses the environments, as one of its users would write it.

`python tests/clients/with_NAME.py` runs one. `tests/test_clients.py` runs the scripts in HERE, whose
libraries the project depends on. `python -m tests.clients` (`make clients`) runs the scripts in APART.
"""

HERE = ("gymnasium", "pettingzoo", "sb3")
APART = {  # the project with an extra, and what else pip installs for the script
    "openenv": (".[openenv]",),
    "rllib": (".[rllib,tournament]", "torch"),
    "textarena": (".", "textarena"),
    "tianshou": (".", "tianshou>=2"),
    "torchrl": (".", "torchrl"),
    "trl": (".", "trl"),
    "verifiers": (".", "verifiers"),
}
