"""A transformer that plays every map with one set of weights, trained by imitation of `beam`.

    pip install -e '.[train]'  # in a clone
    python examples/transformer.py  # trains, writes runs/transformer.pt and plays on twelve new maps
    risk-env evaluate examples/transformer.py:Attentive --opponents hunter --players 3 --map random:1005

The sequence has a token for each territory, each continent and the whole board. Attention reads the map
through a bias: every head learns a number for each kind of relation between two tokens. Examples are a border
between two territories, and a territory in its continent. The score of an attack is the dot product of a
query of the source and a key of the target. A score of the target is added. Each training round records games
of `beam` on `tiny`, `inner_sea` or a new random map.

Result of one run (seed 0), after 3.4 minutes on one core: 30 rounds, 105,028 decisions of `beam`, 510
decisions a second with games and updates. Against `hunter` and `breaker`, the network wins 53.9 % of 1,800
games on twelve maps that it has not seen (95 % interval 51.6 to 56.2 %). An even share of three players is
33.3 %. On each map, the network wins at least 38.0 %. The win rate is highest on small maps.
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

RULES, MODEL = Rules.preset("classic", num_players=3, profile="fast"), Path("runs/transformer.pt")
TEACHER, RIVALS = "beam", ["hunter", "breaker"]
WIDTH, LAYERS, HEADS = 64, 3, 4
GAMES, UPDATES, MINIBATCH, RATE = 16, 48, 128, 2e-3  # games and updates of a training round
NEW_MAPS = ["classic", *(f"random:{1000 + n}:territories={8 + 4 * n}" for n in range(11))]  # 8 to 48
KINDS = 6  # kinds of pairs of tokens; see `MapTokens`


class MapTokens:
    """The tensors of a map: facts that are the same in every game, and the kind of each pair of tokens.

    The tokens are the T territories, the C continents and the board. The kinds of pairs are:

    * 0: no relation
    * 1: a border
    * 2: two territories of one continent that do not border each other
    * 3: a territory and its continent
    * 4: a token with itself
    * 5: a pair with the board
    """

    def __init__(self, board: Board) -> None:
        fixed, names = static_features(board), feature_names(RULES, board)[1]
        self.board, self.blocks = board, ActionSpace(RULES, board).blocks
        self.first = names.index(f"holder of {board.continents[0]}")  # first column of the continents
        self.source, self.target = torch.tensor(fixed.edge_index)
        self.territories, self.continents = torch.tensor(fixed.territories), torch.tensor(fixed.continents)
        (T, C), members = fixed.members.shape, torch.tensor(fixed.members) > 0
        self.kinds = torch.zeros(T + C + 1, T + C + 1, dtype=torch.long)
        self.kinds[:T, :T][members.float() @ members.T.float() > 0] = 2
        self.kinds[self.source, self.target] = 1
        self.kinds[:T, T:-1][members] = 3
        self.kinds[T:-1, :T][members.T] = 3
        self.kinds[-1], self.kinds[:, -1] = 5, 5
        self.kinds.fill_diagonal_(4)


class Layer(nn.Module):
    """Transformer layer with pre-normalisation: attention, then a block of two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(HEADS, KINDS))
        self.reads, self.joins = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.dense = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))

    def forward(self, tokens, kinds):
        """Return tokens (k, N, WIDTH), from tokens and the kinds of pairs (N, N)."""
        parts = self.reads(self.norms[0](tokens)).chunk(3, dim=2)
        queries, keys, values = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in parts)
        found = nn.functional.scaled_dot_product_attention(queries, keys, values, self.bias[:, kinds])
        tokens = tokens + self.joins(found.transpose(1, 2).flatten(2))
        return tokens + self.dense(self.norms[1](tokens))


class Network(nn.Module):
    """Transformer whose weights do not depend on the map."""

    def __init__(self) -> None:
        super().__init__()
        small = MapTokens(load_map("tiny"))  # any map: the sizes below are the same on all maps
        names, blocks = feature_names(RULES, small.board)[0], small.blocks
        self.marks = [names.index("source"), names.index("target")]
        self.sizes = {n: len(blocks[n]) for n in blocks if n not in ("territory", "border", "card")}
        facts = [part.shape[1] for part in (small.territories, small.continents)]
        self.whole, self.territory = nn.Linear(small.first, WIDTH), nn.Linear(len(names) + facts[0], WIDTH)
        self.continent = nn.Linear(4 + facts[1], WIDTH)
        self.layers, self.norm = nn.ModuleList(Layer() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.edge, self.place, self.card = (nn.Linear(WIDTH, 1) for _ in range(3))
        self.others = nn.Sequential(nn.Linear(3 * WIDTH, 2 * WIDTH), nn.GELU())
        self.others.append(nn.Linear(2 * WIDTH, sum(self.sizes.values()) + 1))  # the last score: a wild card

    def forward(self, territories, board, tokens):
        """Return scores of all actions (k, n), from features (k, T, F) and (k, G)."""
        T, C = len(tokens.territories), len(tokens.continents)
        columns = board[:, tokens.first :][:, : 3 * C].unflatten(1, (-1, 3))
        holder, own, wanted = columns.unbind(2)  # (k, C) each
        held = torch.stack([holder == 1, holder > 1, own, wanted], 2)
        facts = [part.expand(len(board), -1, -1) for part in (tokens.territories, tokens.continents)]
        whole = self.whole(board[:, : tokens.first])[:, None]
        places = self.territory(torch.cat([territories, facts[0]], 2)) + whole
        sequence = torch.cat([places, self.continent(torch.cat([held, facts[1]], 2)), whole], 1)
        for layer in self.layers:
            sequence = layer(sequence, tokens.kinds)
        sequence = self.norm(sequence)
        return self.scores(sequence[:, :T], sequence[:, -1], territories[:, :, self.marks], tokens)

    def scores(self, places, board, marks, tokens):
        """Return the scores (k, n), block by block in the order of the action numbers."""
        queries, keys = self.query(places)[:, tokens.source], self.key(places)[:, tokens.target]
        borders = (queries * keys).sum(2) / WIDTH**0.5 + self.edge(places).squeeze(2)[:, tokens.target]
        at_marks = (marks.transpose(1, 2) @ places).flatten(1)  # the source and the target of a move
        *others, wild = self.others(torch.cat([board, at_marks], 1)).split([*self.sizes.values(), 1], 1)
        found = dict(zip(self.sizes, others, strict=True))
        found |= {"territory": self.place(places).squeeze(2), "border": borders}
        found["card"] = torch.cat([self.card(places).squeeze(2), wild], 1)
        return torch.cat([found[name] for name in tokens.blocks], 1)

    def legal_scores(self, codes, masks, tokens):
        """Return the scores (k, n) for observations int8 (k, D); illegal actions have the lowest score."""
        shown = risk_env.features(codes, RULES, tokens.board)
        return self(*map(torch.from_numpy, shown), tokens).masked_fill(torch.as_tensor(masks) == 0, -1e9)


class Attentive(Policy):
    """The network as a player. If `network` is None, the player loads the weights in MODEL."""

    name = "transformer"

    def __init__(self, network: Network | None = None) -> None:
        self.network = network or trained()

    def prepare(self, rules: Rules, board: Board) -> None:
        """Make the tensors of the map.

        Raises ValueError if the rules differ from RULES in any option except `max_rounds`.
        """
        if rules.replace(max_rounds=None) != RULES.replace(max_rounds=None):
            raise ValueError(f"{self.name} plays only {RULES}, with any max_rounds, not {rules}")
        self.tokens = MapTokens(board)

    @torch.no_grad()
    def act_batch(self, observations, masks, seats, state=None):
        """Return the actions with the highest scores, int64 (k,)."""
        codes = as_codes(observations, self.tokens.board)
        return self.network.legal_scores(codes, masks, self.tokens).argmax(1).numpy()


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
    optimizer = torch.optim.AdamW(network.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, rounds * UPDATES, pct_start=0.1)
    for number in range(rounds):
        names = ["tiny", "inner_sea", f"random:{number}:territories={rng.integers(7, 45)}"]
        board = load_map(names[min(number % 8, 2)])
        data.append((MapTokens(board), *recorded(board, GAMES, seed=1000 * seed + number)))
        right = []
        for _ in range(UPDATES):
            tokens, codes, masks, actions = data[rng.integers(len(data))]
            some = rng.integers(len(codes), size=MINIBATCH)
            scores, taken = (
                network.legal_scores(codes[some], masks[some], tokens),
                torch.tensor(actions[some]),
            )
            optimizer.zero_grad()
            nn.functional.cross_entropy(scores, taken).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
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
    found = play(RULES, board, [Attentive(network), *RIVALS], games, seed, line_ups=line_ups)
    wins = int((found["winner"] == line_ups.argmin(1)).sum())
    return WinRate(wins, games, found["truncated"].mean(), found["rounds"].mean())


def main() -> None:
    """Train and save a network, and print its win rates on maps that it has not seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=30, help="number of training rounds (default: 30)")
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
