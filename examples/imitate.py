"""Learn to play from recorded games: a policy that imitates an agent's decisions.

  risk-env dataset --agents marshal,beam --players 2 --decisions 1000000 --only marshal --out marshal.parquet
  python examples/imitate.py marshal.parquet imitator.npz
  risk-env evaluate imitator.npz --opponents random,attacker

The policy has the project's own network, and runs as compiled code.

Result of one run that imitates `beam` (seed 0), after 20 seconds on one core: 150,000 decisions, each learned
twice, 7,500 decisions a second. The policy chooses the same action as `beam` in 59 % of the decisions in
other games. It wins 54 % of 200 games against `attacker` (95 % confidence interval 47 to 61 %). The page
docs/datasets.md shows the commands, and results against more opponents. `python -m research.comparisons
first_weights` repeats recording and imitation with five seeds, and then continues with PPO
(research/2026-11-learning-comparisons.md).
"""

import sys
import time
from typing import Any

import numpy as np
import torch

from risk_agents.dataset import read_decisions
from risk_agents.learned.layout import Layout
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import Schema
from risk_training.torch_network import Network, action_logprobs

EPOCHS, BATCH, WIDTH, LOCAL = 2, 1024, 128, 32
LEARNING_RATE = 2e-3
HELD_OUT = 20  # every 20th game is test data


def new_network(schema: Schema) -> Network:
    """Return a network for the games of a file.

    Raises ValueError if this version has other columns of observations or other action numbers.
    """
    return Network(Layout(schema.rules, schema.board, schema.num_actions), WIDTH, LOCAL)


def learn(network: Network, columns: dict[str, Any], rows: Any, seed: int = 0) -> None:
    """Train the network to predict the recorded actions, and the win probability of the deciding seat."""
    chance = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    steps = EPOCHS * -(-len(rows) // BATCH)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
    for _ in range(EPOCHS):
        order = chance.permutation(rows)
        for batch in np.array_split(order, -(-len(rows) // BATCH)):
            logprobs, values = answers(network, columns, batch)
            won = torch.as_tensor(columns["reward"][batch] > 0).float()
            value_loss = torch.nn.functional.binary_cross_entropy_with_logits(values, won)
            optimizer.zero_grad()
            (value_loss - logprobs.mean()).backward()
            optimizer.step()
            falling.step()


def answers(network: Network, columns: dict[str, Any], rows: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return log-probabilities of the recorded actions, and values, each (k,)."""
    logits, values = network(columns["observation"][rows], torch.as_tensor(columns["mask"][rows]))
    return action_logprobs(logits, torch.as_tensor(columns["action"][rows]).long())[0], values


def agreement(network: Network, columns: dict[str, Any], rows: Any) -> float:
    """Return the share of decisions in which the likeliest action is the recorded action."""
    with torch.no_grad():
        parts = np.array_split(rows, -(-len(rows) // BATCH))
        logits = [
            network(columns["observation"][part], torch.as_tensor(columns["mask"][part]))[0] for part in parts
        ]
    return float((torch.cat(logits).argmax(1).numpy() == columns["action"][rows]).mean())


def main(source: str, target: str) -> None:
    """Read the decisions, fit and test the policy, and write the policy."""
    facts, columns = read_decisions(source)
    schema = Schema.from_dict(facts["schema"])
    is_held_out = columns["game"] % HELD_OUT == 0
    torch.manual_seed(0)
    network, start = new_network(schema), time.process_time()
    learn(network, columns, np.flatnonzero(~is_held_out))
    share = agreement(network, columns, np.flatnonzero(is_held_out))
    seconds, decisions = time.process_time() - start, len(columns["action"])
    print(f"{share:.1%} same actions in other games")
    print(f"{decisions:,} decisions in {seconds:.0f} s: {decisions / seconds:,.0f} a second")
    PolicyFile(
        network.arrays(), schema, {"name": "imitator", "version": "1", "imitates": facts["agents"]}
    ).save(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
