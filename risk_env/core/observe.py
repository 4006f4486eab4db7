"""The observation of a seat, written into the caller's buffer of int8.

0            16             32                    16 T            16 T + G
| territory 0 | territory 1 | ... | territory T-1 | globals, continents |

Players are counted from the observing seat: player 0 is the seat itself, player 1 the next seat clockwise.
`encode_count` encodes counts. `TERRITORY_COLUMNS`, `GLOBAL_BLOCKS` and `CONTINENT_COLUMNS` define the
columns. The column numbers below and the tables of docs/observation.md are computed from these constants.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, common, lowest, size
from risk_env.core.cards import count_symbol, hand_size, num_picked, set_is_owed, set_troops_due, stars_in
from risk_env.core.combat import ATTACKER, DEFENDER
from risk_env.core.draft import draftable, troops_due
from risk_env.core.goals import taken_this_turn
from risk_env.core.movement import movable
from risk_env.core.position import (
    holds_continent,
    is_alive,
    num_territories,
    owner_of,
    total_troops,
    troops_on,
)
from risk_env.core.types import (
    MAX_SEATS,
    NOBODY,
    NOWHERE,
    NUM_AIRFIELDS,
    NUM_OBJECTIVES,
    NUM_REWARDS,
    UNLIMITED,
    Deck,
    Held,
    Mission,
    Phase,
    Victory,
)

EXACT_TO = 32  # the code of a count up to this number is the count itself
MOST_CODE = 127
STEPS_AN_OCTAVE = 4  # number of codes for each doubling beyond EXACT_TO
# number of bits of a float's fraction (52 bits) below the two highest bits, which select one of the four
# codes of a doubling
_BELOW_QUARTERS = 50
_EXPONENTS_BELOW = STEPS_AN_OCTAVE * (1023 + 5) - EXACT_TO  # this offset gives 2**5 the code 32
_BYTE = np.uint64(0xFF)

TERRITORY_COLUMNS = (
    *(
        (f"troops_{k}", f"troops if player {k} holds the territory, otherwise 0 (count)")
        for k in range(MAX_SEATS)
    ),
    ("troops_neutral", "troops if the neutral army holds the territory, otherwise 0 (count)"),
    ("source", "1: source of the current attack or move"),
    ("target", "1: target of the current attack, move or draft"),
    ("own_card", "1: the territory's card is in the seat's hand; 2: this card is also picked for a trade"),
    ("known_card", "1 + player who holds the territory's card, if a re-roll has shown the card; otherwise 0"),
    ("discarded", "1: the territory's card is on the discard pile"),
    ("city", "1: the territory has a city"),
    ("headquarters_of", "1 + player whose capital, or headquarters known to the seat, is here; otherwise 0"),
    ("airfield", "1 + player whose airfield is here, otherwise 0"),
    ("taken", "1: captured this turn by the player whose turn it is (star deck only)"),
)
GLOBAL_BLOCKS = (
    ("phase", int(Phase.OVER), "one-hot: the phase; all 0 when the game is over or a chance event is next"),
    ("turn", MAX_SEATS, "one-hot: the player whose turn it is"),
    ("alive", MAX_SEATS, "1: the player is not eliminated"),
    ("territories", MAX_SEATS, "territories of each player (count)"),
    ("troops", MAX_SEATS, "troops of each player (count)"),
    ("income", MAX_SEATS, "troops that each player would get at the start of a turn, without cards (count)"),
    ("cards", MAX_SEATS, "cards in each hand (count)"),
    ("objectives_held", MAX_SEATS, "number of Objectives of each player"),
    ("to_place", MAX_SEATS, "set-up troops that each player still has to place (count)"),
    ("neutral", 3, "neutral army: territories, troops, troops still to place (counts)"),
    (
        "own_symbols",
        3,
        "numbers of infantry, cavalry and artillery cards in the seat's hand (symbol deck only)",
    ),
    ("own_wilds", 1, "number of wild cards in the seat's hand"),
    ("own_stars", 1, "stars on the cards in the seat's hand (count), star deck only"),
    ("picked", 1, "number of cards picked for a trade"),
    ("next_set", 1, "troops for the next set (count), symbol deck only"),
    ("deck", 1, "cards in the deck (count)"),
    ("draft_left", 1, "troops still to be placed in the draft (count)"),
    ("movable", 1, "largest amount that can be chosen (count), 0 in phases without a choice of an amount"),
    ("moves_left", 1, "remaining fortify moves (count), 0 outside the fortify phases"),
    ("battles_left", 1, "remaining rolls of this turn (count), 127 without a limit"),
    ("round", 1, "number of the round (count)"),
    ("rounds_left", 1, "rounds until truncation (count), 127 without a limit"),
    ("starter", 1, "1 + player who has the first turn of the game"),
    ("attack_dice", 1, "number of the attacker's dice, without extra dice (in DEFEND)"),
    ("own_faces", 3, "the attacker's dice, highest first (in REROLL and COMMANDER)"),
    ("other_faces", 2, "the defender's dice, highest first (in REROLL and COMMANDER)"),
    ("captured", 1, "1: a territory was captured this turn"),
    ("bonus_paid", 1, "1: the bonus of an occupied territory was paid this turn"),
    ("commander_used", 1, "1: the commander was used this turn"),
    ("objective_taken", 1, "1: an Objective was taken this turn"),
    ("attacks_over", 1, "1: the attacks of this turn are over"),
    ("move_begun", 1, "1: some troops of the current fortify move have moved"),
    ("must_trade", 1, "1: a set must be traded in; in BONUS: another set must be traded in after the bonus"),
    ("objective", NUM_OBJECTIVES, "each Objective: 0 not in play, 1 face up, 2 + player who holds it"),
    (
        "objective_reward",
        NUM_OBJECTIVES,
        "each Objective: 1 + the number of its Reward while the Objective is face up, otherwise 0",
    ),
    ("reward", NUM_REWARDS, "each Reward: 1 + player who owns it, otherwise 0"),
    ("mission_target", MAX_SEATS, "one-hot: the player whom the seat's mission requires to be eliminated"),
    ("mission_territories", 1, "number of territories that the seat's mission requires (count)"),
    ("mission_min_troops", 1, "number of troops that the mission requires on each required territory"),
    ("mission_third", 1, "1: the mission requires one more continent, which the player may choose"),
)
CONTINENT_COLUMNS = (
    ("holder", "1 + player who holds the whole continent; 7: the neutral army; 0: nobody"),
    ("own", "number of the seat's territories in the continent (count)"),
    ("wanted", "1: the seat's mission requires the continent"),
)
TERRITORY_WIDTH = len(TERRITORY_COLUMNS)
GLOBAL_WIDTH = sum(width for _, width, _ in GLOBAL_BLOCKS)
CONTINENT_WIDTH = len(CONTINENT_COLUMNS)
WORDS_A_TERRITORY = TERRITORY_WIDTH // 8


def _named(names: list[str], numbers: Any) -> Any:
    """Return a named tuple of numbers, which kernels read as constants."""
    return namedtuple("Named", names)(*numbers)


def num_globals(num_continents: int) -> int:
    """Return G, the number of global and continent columns, rounded up to whole words.

    The additional columns are zero.
    """
    return -(-(GLOBAL_WIDTH + CONTINENT_WIDTH * num_continents) // 8) * 8


COLUMN = _named([name for name, _ in TERRITORY_COLUMNS], range(TERRITORY_WIDTH))
_WIDTHS = [width for _, width, _ in GLOBAL_BLOCKS]
# first column of each block
BLOCK = _named([name for name, _, _ in GLOBAL_BLOCKS], [sum(_WIDTHS[:k]) for k in range(len(_WIDTHS))])


@inlined
def encode_count(count):
    """Return the code 0 ... 127 of a count.

    The code is monotone. Up to 32, the code is the count itself. Beyond 32 there are four codes per doubling,
    up to saturation at 1.75 * 2**28. These codes consist of the exponent of the count as a float, and the two
    highest bits of the fraction.
    """
    beyond = (np.float64(count).view(np.int64) >> _BELOW_QUARTERS) - _EXPONENTS_BELOW
    return min(MOST_CODE, beyond if count > EXACT_TO else count)


@inlined
def encode_limit(left):
    """Return the code of a number of rolls or rounds left, or the highest code if there is no limit."""
    return MOST_CODE if left > UNLIMITED // 2 else encode_count(left)


@inlined
def seen_from(rules, seat, other):
    """Return the number of player `other`, counted clockwise from `seat`, which is player 0."""
    number = other - seat
    return number if number >= 0 else number + int(rules.num_players)


@kernel
def observe(game, board, rules, seat, words, observation):
    """Write the observation of `seat`.

    `observation` is int8 (D,). `words` is the same memory as uint64 (D / 8,).
    """
    observe_all_but_armies(game, board, rules, seat, words, observation)
    first = TERRITORY_WIDTH * int(board.num_territories)
    for army in range(rules.num_armies):
        observe_army(game, rules, seat, army, total_troops(game, army), observation[first:])


@kernel
def observe_all_but_armies(game, board, rules, seat, words, observation):
    """Write an observation in which the total troops of each army are zero."""
    observe_territories(game, board, rules, seat, words)
    first = TERRITORY_WIDTH * int(board.num_territories)
    for w in range(first // 8, len(words)):
        words[w] = ZERO
    observe_marks(game, board, rules, seat, observation)
    observe_seats(game, rules, seat, observation[first:])
    observe_holdings(game, board, rules, seat, observation[first:])
    observe_turn(game, board, rules, seat, observation[first:])
    if rules.deck == Deck.STAR:
        observe_objectives(game, rules, seat, observation[first:])
    if rules.victory == Victory.MISSION and seat < rules.num_players:
        observe_mission(game, board, rules, seat, observation[first:])


@kernel
def observe_territories(game, board, rules, seat, words):
    """Write the troops of each territory into the owner's column, and zero into the other columns.

    Free territories have no troops.
    """
    shifts = column_shifts(rules, seat)
    for territory in range(int(board.num_territories)):
        code = np.uint64(encode_count(troops_on(game, territory)))
        shift = (shifts >> np.uint64(8 * (owner_of(game, territory) + 1))) & _BYTE
        words[WORDS_A_TERRITORY * territory] = code << shift
        words[WORDS_A_TERRITORY * territory + 1] = ZERO


@inlined
def column_shifts(rules, seat):
    """Return a word with one byte per owner, FREE first: the offset of the owner's column in bits.

    A code that is shifted up by this number of bits is in the owner's column.
    """
    shifts = ZERO
    for owner in range(rules.num_players):
        shifts |= np.uint64(8 * seen_from(rules, seat, owner)) << np.uint64(8 * (owner + 1))
    if rules.neutral:
        shifts |= np.uint64(8 * COLUMN.troops_neutral) << np.uint64(8 * (int(rules.num_players) + 1))
    return shifts


@inlined
def column_of(rules, seat, owner):
    """Return the column for the troops of `owner`.

    Free territories have no troops, so any column is correct for FREE.
    """
    return COLUMN.troops_neutral if owner == rules.num_players else seen_from(rules, seat, max(owner, 0))


@inlined
def mark(observation, territory, column, value):
    observation[TERRITORY_WIDTH * territory + column] = value


@inlined
def mark_all(observation, first, word, column, value):
    """Mark the territories of one word of a bitset. Bit 0 of `word` is territory `first`."""
    while word != ZERO:
        mark(observation, first + lowest(word), column, value)
        word &= word - ONE


@kernel
def observe_marks(game, board, rules, seat, observation):
    """Write the columns that are zero for most territories: the current move, cards and variants."""
    mark_move(game, observation, 1)
    for w in range(len(game.hand[seat])):
        mark_all(observation, w << 6, game.discard[w], COLUMN.discarded, 1)
        mark_all(observation, w << 6, game.hand[seat, w], COLUMN.own_card, 1)
        mark_known_cards(game, rules, seat, w, observation)
        mark_all(observation, w << 6, game.picked[w] & game.hand[seat, w], COLUMN.own_card, 2)
    observe_places(game, rules, seat, observation)


@inlined
def mark_move(game, observation, value):
    """Mark the source and the target of the current move."""
    if game.source != NOWHERE:
        mark(observation, int(game.source), COLUMN.source, value)
    if game.target != NOWHERE:
        mark(observation, int(game.target), COLUMN.target, value)


@kernel
def observe_places(game, rules, seat, observation):
    """Write the columns from `city` on, which only variants use."""
    if rules.deck == Deck.STAR:
        observe_star_marks(game, rules, seat, observation)
    elif rules.victory == Victory.HEADQUARTERS:
        for other in range(rules.num_players):
            known = game.headquarters_open or other == seat
            place = int(game.headquarters[other])
            if known and place != NOWHERE:
                mark(observation, place, COLUMN.headquarters_of, 1 + seen_from(rules, seat, other))


@kernel
def mark_known_cards(game, rules, seat, w, observation):
    """Mark the publicly known cards in word `w` of each hand (RULES 10.4)."""
    for holder in range(rules.num_players):
        known = game.hand[holder, w] & game.shown[w]
        mark_all(observation, w << 6, known, COLUMN.known_card, 1 + seen_from(rules, seat, holder))


@kernel
def observe_star_marks(game, rules, seat, observation):
    """Mark cities, capitals, airfields and the territories taken this turn (2008 games)."""
    for w in range(len(game.city)):
        mark_all(observation, w << 6, game.city[w], COLUMN.city, 1)
        if game.round_number > 0:
            mark_all(observation, w << 6, taken_this_turn(game, int(game.turn), w), COLUMN.taken, 1)
    for other in range(rules.num_players):
        if game.capital[other] != NOWHERE:
            mark(
                observation,
                int(game.capital[other]),
                COLUMN.headquarters_of,
                1 + seen_from(rules, seat, other),
            )
    for which in range(NUM_AIRFIELDS):
        place = int(game.airfield[which])
        if place != NOWHERE:
            mark(observation, place, COLUMN.airfield, 1 + seen_from(rules, seat, owner_of(game, place)))


@kernel
def observe_seats(game, rules, seat, observation):
    """Write the living players, and each player's number of cards and number of set-up troops left."""
    for other in range(rules.num_players):
        k = seen_from(rules, seat, other)
        if is_alive(game, other):
            observation[BLOCK.alive + k] = 1
            observation[BLOCK.cards + k] = encode_count(hand_size(game, other))
            observation[BLOCK.to_place + k] = encode_count(int(game.to_place[other]))
    if rules.neutral:
        observation[BLOCK.neutral + 2] = encode_count(int(game.to_place[rules.num_players]))


@kernel
def observe_holdings(game, board, rules, seat, observation):
    """Write the territories of each army, the income of each player, and the continents."""
    for army in range(rules.num_armies):
        observe_lands(game, board, rules, seat, army, observation)
    for continent in range(board.num_continents):
        observe_continent(game, board, rules, seat, observation, continent)


@kernel
def observe_lands(game, board, rules, seat, army, observation):
    """Write the number of territories of an army, and the income if the army belongs to a player."""
    if army == rules.num_players:
        observation[BLOCK.neutral] = encode_count(num_territories(game, army))
    elif is_alive(game, army):
        k = seen_from(rules, seat, army)
        observation[BLOCK.territories + k] = encode_count(num_territories(game, army))
        observation[BLOCK.income + k] = encode_count(troops_due(game, board, rules, army))


@inlined
def observe_army(game, rules, seat, army, troops, observation):
    """Write the total troops of one army."""
    if army == rules.num_players:
        observation[BLOCK.neutral + 1] = encode_count(troops)
    elif is_alive(game, army):
        observation[BLOCK.troops + seen_from(rules, seat, army)] = encode_count(troops)


@kernel
def observe_continent(game, board, rules, seat, observation, continent):
    """Write the holder of a continent, and the number of the continent's territories that `seat` holds."""
    own = common(board.continent_members[continent], game.owned[seat])
    holder = 0
    for owner in range(rules.num_armies):
        if holds_continent(game, board, owner, continent):
            holder = 1 + (MAX_SEATS if owner == rules.num_players else seen_from(rules, seat, owner))
    first = GLOBAL_WIDTH + CONTINENT_WIDTH * continent
    observation[first] = holder
    observation[first + 1] = encode_count(own)


@kernel
def observe_turn(game, board, rules, seat, observation):
    """Write the player whose turn it is, the current decision, and the state of the turn."""
    observation[BLOCK.turn + seen_from(rules, seat, int(game.turn))] = 1
    observation[BLOCK.starter] = 1 + seen_from(rules, seat, int(game.starter))
    observe_decision(game, rules, observation)
    observe_course(game, rules, observation)
    observe_rounds(game, rules, observation)
    observe_own_cards(game, board, rules, seat, observation)
    observe_piles(game, rules, observation)


@inlined
def observe_decision(game, rules, observation):
    """Write the phase, and the numbers that exist only in this phase."""
    if game.phase < Phase.OVER:
        observation[BLOCK.phase + int(game.phase)] = 1
    if game.phase == Phase.DRAFT_AMOUNT:
        observation[BLOCK.movable] = encode_count(draftable(game, rules, int(game.target)))
    elif game.phase == Phase.OCCUPY or game.phase == Phase.FORTIFY_AMOUNT:
        observation[BLOCK.movable] = encode_count(movable(game, rules))
    elif game.phase == Phase.DEFEND:
        observation[BLOCK.attack_dice] = int(game.chosen_dice[ATTACKER])
    elif game.phase == Phase.REROLL or game.phase == Phase.COMMANDER:
        for d in range(3):
            observation[BLOCK.own_faces + d] = int(game.settled[ATTACKER, d])
        for d in range(2):
            observation[BLOCK.other_faces + d] = int(game.settled[DEFENDER, d])


@inlined
def observe_course(game, rules, observation):
    """Write the counts and flags of the turn."""
    observation[BLOCK.draft_left] = encode_count(int(game.draft_left))
    observation[BLOCK.moves_left] = encode_count(int(game.moves_left))
    observation[BLOCK.battles_left] = encode_limit(int(rules.max_battles) - int(game.battles))
    observation[BLOCK.captured] = int(game.captured)
    observation[BLOCK.bonus_paid] = int(game.bonus_paid)
    observation[BLOCK.commander_used] = int(game.commander_used)
    observation[BLOCK.objective_taken] = int(game.objective_taken)
    observation[BLOCK.attacks_over] = int(game.attacks_over)
    observation[BLOCK.move_begun] = int(game.move_begun)
    observation[BLOCK.must_trade] = int(set_is_owed(game))


@inlined
def observe_rounds(game, rules, observation):
    """Write the round, and the number of rounds left."""
    observation[BLOCK.round] = encode_count(int(game.round_number))
    observation[BLOCK.rounds_left] = encode_limit(max(0, int(rules.max_rounds) - int(game.round_number)))


@inlined
def observe_own_cards(game, board, rules, seat, observation):
    """Write the hand of `seat` into the observation."""
    if rules.deck == Deck.STAR:
        observation[BLOCK.own_stars] = encode_count(stars_in(game.hand[seat], board))
        return
    for symbol in range(3):
        observation[BLOCK.own_symbols + symbol] = count_symbol(game.hand[seat], board, symbol)
    observation[BLOCK.own_wilds] = int(game.wilds[seat])


@inlined
def observe_piles(game, rules, observation):
    """Write the public facts about the cards."""
    observation[BLOCK.picked] = num_picked(game)
    if rules.deck == Deck.SYMBOL:
        observation[BLOCK.next_set] = encode_count(set_troops_due(rules, int(game.sets_traded) + 1))
    observation[BLOCK.deck] = encode_count(size(game.deck) + int(game.deck_wilds))


@kernel
def observe_objectives(game, rules, seat, observation):
    """Write the Objectives and Rewards, which are all public (RULES 9.5, 9.8)."""
    for objective in range(NUM_OBJECTIVES):
        state = int(game.objective[objective])
        if state >= 0:
            k = seen_from(rules, seat, state)
            observation[BLOCK.objective + objective] = 2 + k
            observation[BLOCK.objectives_held + k] += 1
        elif state == Held.FACE_UP:
            observation[BLOCK.objective + objective] = 1
            observation[BLOCK.objective_reward + objective] = 1 + int(game.objective_reward[objective])
    for reward in range(NUM_REWARDS):
        owner = int(game.reward_owner[reward])
        observation[BLOCK.reward + reward] = 0 if owner == NOBODY else 1 + seen_from(rules, seat, owner)


@kernel
def observe_mission(game, board, rules, seat, observation):
    """Write the mission of `seat`. The mission's target is counted from `seat` (RULES 8)."""
    mission = int(game.mission[seat])
    kind = board.mission_kind[mission]
    target = int(board.mission_target[mission])
    if kind == Mission.CONTINENTS:
        observation[BLOCK.mission_third] = int(board.mission_any_third[mission])
        for continent in range(board.num_continents):
            wanted = (board.mission_continents[mission] >> np.uint64(continent)) & ONE
            observation[GLOBAL_WIDTH + CONTINENT_WIDTH * continent + 2] = int(wanted)
    elif kind == Mission.DESTROY and target != seat:
        observation[BLOCK.mission_target + seen_from(rules, seat, target)] = 1
    else:
        own_colour = kind == Mission.DESTROY
        needed = board.mission_fallback[mission] if own_colour else board.mission_territories[mission]
        observation[BLOCK.mission_territories] = encode_count(int(needed))
        observation[BLOCK.mission_min_troops] = 1 if own_colour else int(board.mission_min_troops[mission])
