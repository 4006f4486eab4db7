"""A graph network that plays every map with one set of weights, trained by imitation of `beam`.

    pip install -e '.[train]'  # in a clone
    python examples/graph_network.py  # trains, writes runs/graph_network.pt and plays on twelve new maps
    risk-env evaluate examples/graph_network.py:GraphPolicy --opponents hunter --players 3 --map random:1005

The network passes messages along the borders (`board.edge_index`) and within the continents. Shared weights
turn the hidden features of territories into scores of territories, borders and cards. All other actions are
the same on every map. Each training round records games of `beam` on `tiny`, `inner_sea` or a new random map.

Result of one run (seed 0), after 7 minutes on one core: 60 rounds, 215,739 decisions of `beam`, 510 decisions
a second with games and updates. Against `hunter` and `breaker`, the network wins 60.2 % of 1,800 games on
twelve maps that it has not seen (95 % interval 57.9 to 62.4 %). An even share of three players is 33.3 %. On
each map, the network wins at least 50.7 %. The maps are `classic` and random maps of 8 to 48 territories. The
second command above prints these numbers.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import torch
from torch import nn

import risk_env
from risk_env import ActionSpace, Board, GameBatch, Policy, Rules, load_map
from risk_env.arena import Arena, play
from risk_env.network_features import feature_names, static_features
from risk_env.observations import as_codes
from risk_training.win_rate import WinRate

RULES, MODEL = Rules.preset("classic", num_players=3, profile="fast"), Path("runs/graph_network.pt")
TEACHER, RIVALS = "beam", ["hunter", "breaker"]
WIDTH, LAYERS = 64, 3
GAMES, UPDATES, MINIBATCH, RATE = 16, 48, 256, 2e-3  # games and updates of a training round
NEW_MAPS = ["classic", *(f"random:{1000 + n}:territories={8 + 4 * n}" for n in range(11))]  # 8 to 48


class MapGraph:
    """The tensors of a map: its borders, its continents, and facts that are the same in every game."""

    def __init__(self, board: Board) -> None:
        fixed, names = static_features(board), feature_names(RULES, board)[1]
        self.board, self.blocks = board, ActionSpace(RULES, board).blocks
        self.first = names.index(f"holder of {board.continents[0]}")  # first column of the continents
        self.source, self.target = torch.tensor(fixed.edge_index)
        self.members = torch.tensor(fixed.members)  # (T, C)
        borders = torch.zeros(board.num_territories, board.num_territories)
        borders[self.source, self.target] = 1
        self.near, self.together = mean_of(borders), mean_of(self.members @ self.members.T)
        continents = self.members @ torch.tensor(fixed.continents)
        self.facts = torch.cat([torch.tensor(fixed.territories), continents], 1)  # (T, 7)


def mean_of(links):
    """Return the matrix (T, T) that replaces each territory's value by the mean over linked territories."""
    return links / links.sum(1, keepdim=True).clip(1)


class Layer(nn.Module):
    """Residual layer: each territory reads its neighbours, its continent and the whole map."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)
        self.own, self.near, self.together, self.all = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, hidden, graph):
        """Return hidden features (k, T, WIDTH)."""
        read = self.norm(hidden)
        units = self.own(read) + self.all(read.mean(1, keepdim=True))
        units = units + graph.near @ self.near(read) + graph.together @ self.together(read)
        return hidden + self.out(torch.relu(units))


class Network(nn.Module):
    """Network whose weights do not depend on the map."""

    def __init__(self) -> None:
        super().__init__()
        small = MapGraph(load_map("tiny"))  # any map: the sizes below are the same on all maps
        names, blocks = feature_names(RULES, small.board)[0], small.blocks
        self.marks = [names.index("source"), names.index("target")]
        self.sizes = {n: len(blocks[n]) for n in blocks if n not in ("territory", "border", "card")}
        self.whole, self.node = nn.Linear(small.first, WIDTH), nn.Linear(len(names) + 7 + 4, WIDTH)
        self.layers, self.norm = nn.ModuleList(Layer() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
        self.source, self.target = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.territory, self.border, self.card = (nn.Linear(WIDTH, 1) for _ in range(3))
        self.pooled = nn.Linear(5 * WIDTH, 2 * WIDTH)
        self.others = nn.Linear(2 * WIDTH, sum(self.sizes.values()) + 1)  # the last score: a wild card

    def forward(self, territories, board, graph):
        """Return scores of all actions (k, n), from features (k, T, F) and (k, G)."""
        columns = board[:, graph.first :][:, : 3 * graph.members.shape[1]].unflatten(1, (-1, 3))
        holder, own, wanted = columns.unbind(2)  # (k, C) each
        continents = torch.stack([holder == 1, holder > 1, own, wanted], 2)
        whole = self.whole(board[:, : graph.first])
        facts = graph.facts.expand(len(board), -1, -1)
        hidden = self.node(torch.cat([territories, facts, graph.members @ continents], 2)) + whole[:, None]
        for layer in self.layers:
            hidden = layer(hidden, graph)
        return self.scores(self.norm(hidden), whole, territories[:, :, self.marks], graph)

    def scores(self, hidden, whole, marks, graph):
        """Return the scores (k, n), block by block in the order of the action numbers."""
        ends = torch.relu(self.source(hidden)[:, graph.source] + self.target(hidden)[:, graph.target])
        at_marks = (marks.transpose(1, 2) @ hidden).flatten(1)  # the source and the target of a move
        pooled = torch.cat([hidden.mean(1), hidden.amax(1), at_marks, whole], 1)
        *others, wild = self.others(torch.relu(self.pooled(pooled))).split([*self.sizes.values(), 1], 1)
        blocks = dict(zip(self.sizes, others, strict=True))
        blocks |= {"territory": self.territory(hidden).squeeze(2), "border": self.border(ends).squeeze(2)}
        blocks["card"] = torch.cat([self.card(hidden).squeeze(2), wild], 1)
        return torch.cat([blocks[name] for name in graph.blocks], 1)

    def legal_scores(self, codes, masks, graph):
        """Return the scores (k, n) for observations int8 (k, D); illegal actions have the lowest score."""
        shown = risk_env.features(codes, RULES, graph.board)
        return self(*map(torch.from_numpy, shown), graph).masked_fill(torch.as_tensor(masks) == 0, -1e9)


class GraphPolicy(Policy):
    """The network as a player. If `network` is None, the player loads the weights in MODEL."""

    name = "graph_network"

    def __init__(self, network: Network | None = None) -> None:
        self.network = network or trained()

    def prepare(self, rules: Rules, board: Board) -> None:
        """Make the tensors of the map.

        Raises ValueError if the rules differ from RULES in any option except `max_rounds`.
        """
        if rules.replace(max_rounds=None) != RULES.replace(max_rounds=None):
            raise ValueError(f"{self.name} plays only {RULES}, with any max_rounds, not {rules}")
        self.graph = MapGraph(board)

    @torch.no_grad()
    def act_batch(self, observations, masks, seats, state=None):
        """Return the actions with the highest scores, int64 (k,)."""
        codes = as_codes(observations, self.graph.board)
        return self.network.legal_scores(codes, masks, self.graph).argmax(1).numpy()


@cache
def trained() -> Network:
    """Return the network with the weights in MODEL."""
    if not MODEL.exists():
        raise ValueError(f"{MODEL} does not exist; train the network: python {__file__}")
    torch.set_num_threads(1)
    network = Network()
    network.load_state_dict(torch.load(MODEL, weights_only=True))
    return network


def recorded(board: Board, games: int, seed: int):
    """Play games of the teacher and its rivals; return the teacher's observations, masks and actions."""
    rng, lanes, rows = np.random.default_rng(seed), np.arange(games), []
    batch = GameBatch(RULES, board, games, seed=seed, autoreset=False)

    def record(playing):
        mine = playing[arena.players_to_act(playing) == 0]
        batch.ask(mine)
        rows.append([part[mine] for part in (batch.observation, batch.action_mask, arena.actions)])

    arena = Arena(batch, [TEACHER, *RIVALS], on_actions=record)
    arena.numbers[:, :3] = rng.integers(1 + len(RIVALS), size=(games, 3))
    arena.numbers[lanes, lanes % 3] = 0  # the teacher plays at least one seat
    batch.reset()
    arena.seat_players(lanes)
    arena.play_on(lanes)  # to the ends of all games
    return [np.concatenate(parts) for parts in zip(*rows, strict=True)]


def train(rounds: int, seed: int) -> Network:
    """Return a network that imitates the teacher. Each round adds games on one map."""
    torch.manual_seed(seed)
    rng, network, data, start = np.random.default_rng(seed), Network(), [], time.process_time()
    optimizer = torch.optim.Adam(network.parameters(), RATE)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, total_iters=rounds * UPDATES)
    for number in range(rounds):
        names = ["tiny", "inner_sea", f"random:{number}:territories={rng.integers(7, 45)}"]
        board = load_map(names[min(number % 8, 2)])
        data.append((MapGraph(board), *recorded(board, GAMES, seed=1000 * seed + number)))
        right = []
        for _ in range(UPDATES):
            graph, codes, masks, actions = data[rng.integers(len(data))]
            some = rng.integers(len(codes), size=MINIBATCH)
            scores, taken = network.legal_scores(codes[some], masks[some], graph), torch.tensor(actions[some])
            optimizer.zero_grad()
            nn.functional.cross_entropy(scores, taken).backward()
            optimizer.step()
            falling.step()
            right.append((scores.argmax(1) == taken).float().mean().item())
        decisions, seconds = sum(len(part[1]) for part in data), time.process_time() - start
        print(f"round {number + 1}: {decisions:,} decisions, {np.mean(right):.1%} right, {seconds:.0f} s")
    print(f"{decisions:,} decisions in {seconds:.0f} s: {decisions / seconds:,.0f} a second")
    return network


def win_rate(network: Network, board: Board, games: int, seed: int = 10**6) -> WinRate:
    """Return the network's win rate against the rivals.

    If `games` is a multiple of 6, the network plays each seat equally often.
    """
    orders = np.array(list(permutations(range(3))))
    line_ups = orders[np.arange(games) % len(orders)]  # player 0 is the network
    results = play(RULES, board, [GraphPolicy(network), *RIVALS], games, seed, line_ups=line_ups)
    wins = int((results["winner"] == line_ups.argmin(1)).sum())
    return WinRate(wins, games, results["truncated"].mean(), results["rounds"].mean())


def main() -> None:
    """Train and save a network, and print its win rates on maps that it has not seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=60, help="number of training rounds (default: 60)")
    games = "number of test games on each new map (default: 150)"
    parser.add_argument("--games", type=int, default=150, help=games)
    parser.add_argument("--seed", type=int, default=0, help="seed of network and games (default: 0)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    network = train(arguments.rounds, arguments.seed)
    MODEL.parent.mkdir(exist_ok=True)
    torch.save(network.state_dict(), MODEL)
    wins = 0
    for name in NEW_MAPS:
        rate = win_rate(network, load_map(name), arguments.games)
        wins += rate.wins
        print(f"{name}: {rate.wins / rate.games:.1%} of {rate.games} games won")
    share, low, high = WinRate(wins, len(NEW_MAPS) * arguments.games, 0, 0).interval
    print(f"all new maps: {share:.1%} won ({low:.1%} to {high:.1%}) as one of three players")


if __name__ == "__main__":
    main()
