"""A script for each library that uses the environments, as one of its users would write it.

`python tests/clients/with_NAME.py` runs one. `tests/test_clients.py` runs the scripts in HERE, whose
libraries the project depends on. `python -m tests.clients` (`make clients`) runs the scripts in APART.
"""

HERE = ("gymnasium", "pettingzoo", "sb3")
APART = {  # arguments of `pip install`, one tuple for each run of pip
    # Kaggle pins a Gymnasium that risk-env refuses and that its game core never calls.
    "kaggle": (("kaggle-environments", "numba>=0.62,<0.69", "rich"), ("--no-deps", "-e", ".")),
    "openenv": (("-e", ".", "openenv-core>=0.3", "uv", "uvicorn"),),
    "openspiel": (("-e", ".", "open_spiel"),),
    "rllib": (("-e", ".[rllib,tournament]", "torch"),),
    "textarena": (("-e", ".", "textarena"),),
    "tianshou": (("-e", ".", "tianshou>=2"),),
    "torchrl": (("-e", ".", "torchrl"),),
    "trl": (("-e", ".", "trl"),),
    "verifiers": (("-e", ".", "verifiers>=0.4,<0.5"),),
}
