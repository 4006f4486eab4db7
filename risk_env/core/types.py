"""The terms of the rules as numbers, and the dtypes of the records that kernels read and write.

`game_dtype` is the dtype of one game in progress, `board_dtype` of one map, and `rules_dtype` of one set of
options. Each size class has its own dtypes, so all presets, options and player counts of a size class run the
same compiled code.

No field has the name of an attribute of `numpy.record` (`round`, `size`, ...). With the JIT off, such a name
would return the attribute and not the field.
"""

from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

MAX_SEATS = 6
MAX_OWNERS = 7  # six seats and the neutral army
MAX_MISSIONS = 64
NUMBERS_OF_A_MAP = (
    *("num_territories", "num_borders", "num_continents", "num_chunks"),
    *("num_missions", "num_objectives", "num_wilds", "random_cities"),
)
NUM_OBJECTIVES = 12
NUM_REWARDS = 8
NUM_AIRFIELDS = 2
MAX_DICE = 4  # three chosen dice and one Attack Die
FREE = -1  # owner of a territory that nobody has claimed
NOBODY = -1
NOWHERE = -1
NO_REWARD = -1
UNLIMITED = 2**31 - 1  # a limit that is never reached
# maximum number of troops on a territory and in a draft (RULES 1.5); all sums stay far below 2**31
MOST_TROOPS = 2**18

AMOUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
NUM_AMOUNTS = len(AMOUNTS) + 2  # plus "half" and "all"
HALF = len(AMOUNTS)
ALL_OF_THEM = len(AMOUNTS) + 1
MANY = 2 * AMOUNTS[-1] + 2  # with this many troops or more, every amount is legal
BLITZ = 3  # fourth action of the DICE block
NUM_DICE_ACTIONS = 4
NUM_FACES = 6


# Terms of the rules. A game record contains the numbers of these terms.

Phase = IntEnum(
    "Phase",
    "CAPITAL CLAIM DEPLOY DEPLOY_NEUTRAL HEADQUARTERS TRADE BONUS DRAFT DRAFT_AMOUNT ATTACK ATTACK_DICE "
    "DEFEND REROLL COMMANDER OCCUPY OBJECTIVE AIRFIELD FORTIFY_FROM FORTIFY_TO FORTIFY_AMOUNT OVER ROLL DRAW",
    start=0,
)
Phase.__doc__ = """Phases of a game: kinds of decisions (docs/decisions.md), OVER, and two kinds of chance.

`game.phase` and `view.phase` are members of this enumeration. ROLL and DRAW are the phases of chance.
"""
SETUP_PHASES = (Phase.CAPITAL, Phase.CLAIM, Phase.DEPLOY, Phase.DEPLOY_NEUTRAL, Phase.HEADQUARTERS)
DRAFT_PHASES = (Phase.TRADE, Phase.BONUS, Phase.DRAFT, Phase.DRAFT_AMOUNT)
DICE_PHASES = (Phase.REROLL, Phase.COMMANDER)  # phases after a roll in which the dice may still change
FORTIFY_PHASES = (Phase.FORTIFY_FROM, Phase.FORTIFY_TO, Phase.FORTIFY_AMOUNT)
Deck = IntEnum("Deck", "SYMBOL STAR NONE", start=0)  # NONE: a game without cards (RULES 2.5)
Setup = IntEnum("Setup", "CLAIM DEAL RANDOM CAPITALS CHART", start=0)
Victory = IntEnum("Victory", "DOMINATION HEADQUARTERS MISSION OBJECTIVES", start=0)
Missions = IntEnum("Missions", "STANDARD EXTENDED", start=0)
SetValues = IntEnum("SetValues", "ESCALATING BY_ONE FIXED", start=0)
OccupiedBonus = IntEnum("OccupiedBonus", "ONCE_A_TURN ONCE_A_SET", start=0)
Fortify = IntEnum("Fortify", "ADJACENT CONNECTED FREE", start=0)
DefenderDice = IntEnum("DefenderDice", "CHOICE MAX", start=0)
Attack = IntEnum("Attack", "CHOICE MAX BLITZ", start=0)
# Placement: the source of cities and Objectives. NONE is the option's value None.
Placement = IntEnum("Placement", "NONE FIXED RANDOM", start=0)
# Trade: the reason for a trade. OWED: owed at the start of the turn. ELIMINATION: owed after an elimination.
Trade = IntEnum("Trade", "FREE OWED ELIMINATION", start=0)
Symbol = IntEnum("Symbol", "INFANTRY CAVALRY ARTILLERY", start=0)
Mission = IntEnum("Mission", "CONTINENTS TERRITORIES DESTROY", start=0)  # kinds of mission
Goal = IntEnum(  # kinds of Objective (RULES 9.6)
    "Goal",
    "CONTINENT CITIES ENEMY_CAPITALS CITIES_IN_TURN TERRITORIES_IN_TURN TERRITORIES CONTINENTS "
    "CONTINENT_IN_TURN",
    start=0,
)
Reward = IntEnum(  # RULES 9.8: four minor Rewards, four major Rewards
    "Reward",
    "AIRFIELD ADDITIONAL_MANEUVER GUARANTEED_CARD STARTING_MANEUVER "
    "MAJOR_AIRFIELD ATTACK_DIE DEFENSE_DIE TWO_TROOPS",
    start=0,
)
Held = IntEnum("Held", "NOT_IN_PLAY FACE_UP", start=-2)  # state of an Objective that no seat holds

# Options of RULES 13 with words as values: the names above in lower case.
OPTION_VALUES: dict[str, type[IntEnum]] = {
    "deck": Deck,
    "setup": Setup,
    "victory": Victory,
    "missions": Missions,
    "set_values": SetValues,
    "occupied_bonus": OccupiedBonus,
    "fortify": Fortify,
    "defender_dice": DefenderDice,
    "attack": Attack,
    "cities": Placement,
    "objectives": Placement,
}
# Options of RULES 13 that are true or false.
OPTION_FLAGS = ("neutral", "card_reroll", "commander", "rewards", "capitals")


class SizeClass(NamedTuple):
    """Size class of maps: the sizes of the arrays in a record, for the largest map of the class.

    All maps of a size class run the same compiled code.
    """

    territories: int
    borders: int  # directed borders
    continents: int

    @property
    def words(self) -> int:
        """Number of words in a bitset of territories."""
        return self.territories // 64

    @property
    def border_words(self) -> int:
        return self.borders // 64

    @property
    def chunks(self) -> int:
        """Number of chunks: groups of six territories whose bits are an index into a lookup table."""
        return -(-self.territories // 6)

    @property
    def action_words(self) -> int:
        """Number of words in a bitset of actions.

        `put_block` needs one spare word after the last action.
        """
        blocks = self.territories + self.borders + NUM_DICE_ACTIONS + NUM_AMOUNTS + self.territories + 1
        return -(-(blocks + 1 + NUM_FACES + NUM_OBJECTIVES) // 64) + 1


SIZE_CLASSES = (SizeClass(64, 192, 16), SizeClass(128, 512, 32), SizeClass(256, 1024, 64))


def size_class(territories: int, borders: int, continents: int) -> SizeClass:
    """Return the smallest size class that has room for a map of these sizes.

    Raises ValueError if the map is larger than the largest class.
    """
    for sizes in SIZE_CLASSES:
        if territories <= sizes.territories and borders <= sizes.borders and continents <= sizes.continents:
            return sizes
    raise ValueError(
        f"a map of {territories} territories, {borders} directed borders and {continents} continents "
        f"is too large; the maximum is {sizes.territories} territories, {sizes.borders} directed borders "
        f"and {sizes.continents} continents"
    )


@cache
def game_dtype(sizes: SizeClass) -> np.dtype[Any]:
    """Return the dtype of one game in progress.

    T is the number of territories of the size class. TW and AW are the numbers of words in a bitset of
    territories and in a bitset of actions.
    """
    T, TW, AW = sizes.territories, sizes.words, sizes.action_words
    chapters = [_course_fields(AW), _position_fields(T, TW), _card_fields(TW), _goal_fields(), _dice_fields()]
    return packed([field for chapter in chapters for field in chapter])


def _position_fields(T: int, TW: int) -> list[Any]:
    """Return the fields for owners and troops (RULES 1, 3.1-3.4), and for the current move."""
    return [
        ("owned", np.uint64, (MAX_OWNERS, TW)),  # (7, TW) territories of each seat and of the neutral army
        ("strong", np.uint64, (TW,)),  # (TW,) territories with two troops or more
        ("reach", np.uint64, (TW,)),  # (TW,) working memory: free territories, or destinations of a move
        ("held_at_start", np.uint64, (TW,)),  # (TW,) territories of seat `turn` when the turn began
        ("city", np.uint64, (TW,)),  # (TW,) territories with a city
        ("to_place", np.int32, (MAX_OWNERS,)),  # (7,) set-up troops not yet placed, by army
        ("source", np.int16),  # territory that attacks or that troops leave, or NOWHERE
        ("target", np.int16),  # territory attacked, moved to or drafted to, or NOWHERE
        ("headquarters", np.int16, (MAX_SEATS,)),  # (6,) territory of each seat, or NOWHERE
        ("capital", np.int16, (MAX_SEATS,)),  # (6,) territory of each seat, or NOWHERE
        ("airfield", np.int16, (NUM_AIRFIELDS,)),  # (2,) territory of minor and of major airfield, or NOWHERE
        ("draft_left", np.int32),  # troops still to be placed
        ("battles", np.int32),  # rolls made this turn
        ("moves_left", np.int16),  # fortify moves left
        ("troops", np.int32, (T,)),  # (T,) troops, 0 only on free territories
        ("owner", np.int8, (T,)),  # (T,) seat, num_players for the neutral army, or FREE
    ]


def _card_fields(TW: int) -> list[Any]:
    """Return the fields for hands, deck and discard pile (RULES 2, 5)."""
    return [
        ("hand", np.uint64, (MAX_SEATS, TW)),  # (6, TW) territory cards in each hand
        ("deck", np.uint64, (TW,)),  # (TW,) territory cards not drawn
        ("discard", np.uint64, (TW,)),  # (TW,) territory cards traded in
        ("picked", np.uint64, (TW,)),  # (TW,) cards of the hand picked for a trade
        ("shown", np.uint64, (TW,)),  # (TW,) cards that a re-roll made public (RULES 10.4)
        ("bonus", np.uint64, (TW,)),  # (TW,) territories of the traded set that may get the bonus (RULES 5.4)
        ("sets_traded", np.int32),  # number of sets that all seats have traded in the game
        ("wilds", np.int8, (MAX_SEATS,)),  # (6,) wild cards in each hand
        ("deck_wilds", np.int8),
        ("discard_wilds", np.int8),
        ("picked_wilds", np.int8),
    ]


def _goal_fields() -> list[Any]:
    """Return the fields for missions, Objectives, Rewards and eliminations (RULES 3.3, 7-9, 11)."""
    return [
        ("mission", np.int8, (MAX_SEATS,)),  # (6,) number of the mission in the map's list, or NOBODY
        ("death", np.int8, (MAX_SEATS,)),  # (6,) 0 for living seats, else 1, 2, ... in order of elimination
        ("objective", np.int8, (NUM_OBJECTIVES,)),  # (12,) seat that holds the Objective, or a value of Held
        ("objective_reward", np.int8, (NUM_OBJECTIVES,)),  # (12,) Reward on the Objective, or NO_REWARD
        ("reward_owner", np.int8, (NUM_REWARDS,)),  # (8,) seat that owns the Reward, or NOBODY
        ("winner", np.int8),  # winning seat, or NOBODY
    ]


def _dice_fields() -> list[Any]:
    """Return the fields for the current or the last roll (RULES 3.2, 10.4-10.6)."""
    return [
        ("rolled", np.int8, (2, MAX_DICE)),  # (2, 4) attacker's and defender's dice as rolled, then 0
        ("settled", np.int8, (2, MAX_DICE)),  # (2, 4) dice after drop, re-roll, commander, sort and airfields
        ("losses", np.int8, (2,)),  # (2,) troops that attacker and defender lost in the last roll
        ("rerolled", np.int8, (2,)),  # (2,) face before and after the last re-roll of this roll, 0 if none
        ("chosen_dice", np.int8, (2,)),  # (2,) dice chosen for this roll by attacker and defender
    ]


def _course_fields(AW: int) -> list[Any]:
    """Return the fields for the turn, the current decision, and the flags of the turn."""
    return [
        ("random", np.uint64),  # state of the game's own generator
        ("legal", np.uint64, (AW,)),  # (AW,) legal actions of the current decision, or no actions
        ("round_number", np.int32),  # 0 in set-up, then from 1
        ("decisions", np.int32),  # number of decisions so far, without forced actions
        ("phase", np.uint8),
        ("seat", np.int8),  # seat to act
        ("turn", np.int8),  # seat whose turn it is
        ("starter", np.int8),
        ("trade", np.int8),  # a value of Trade
        ("in_a_row", np.int8),  # troops that this seat has deployed in a row (RULES 6.1)
        ("truncated", np.bool_),
        ("blitz", np.bool_),  # the current attack is a blitz
        ("captured", np.bool_),  # a territory was captured this turn
        ("eliminated", np.bool_),  # the current capture eliminated a seat
        ("set_traded", np.bool_),  # a set was traded this turn
        ("bonus_paid", np.bool_),  # the bonus of RULES 5.4 was paid this turn
        ("commander_used", np.bool_),  # the commander was used this turn
        ("objective_taken", np.bool_),  # an Objective was taken this turn
        ("attacks_over", np.bool_),  # the attacks of this turn are over
        ("move_begun", np.bool_),  # some troops of this fortify move have moved
        ("headquarters_open", np.bool_),  # all seats have chosen: headquarters are public
    ]


@cache
def board_dtype(sizes: SizeClass) -> np.dtype[Any]:
    """Return the dtype of one map.

    A border leads from a source to a target, so a two-way border is two borders (RULES 1.2). A chunk is a
    group of six territories. A chunk table has one entry for each subset of each chunk.
    """
    T, B, C, TW, BW = sizes.territories, sizes.borders, sizes.continents, sizes.words, sizes.border_words
    return packed(
        [
            ("everywhere", np.uint64, (TW,)),  # (TW,) all territories of the map
            ("targets", np.uint64, (T, TW)),  # (T, TW) territories to which each territory has a border
            ("sources", np.uint64, (T, TW)),  # (T, TW) territories that have a border to each territory
            ("continent_members", np.uint64, (C, TW)),  # (C, TW) territories of each continent
            ("symbol_cards", np.uint64, (3, TW)),  # (3, TW) cards of each Symbol
            ("two_stars", np.uint64, (TW,)),  # (TW,) cards with two stars
            ("fixed_cities", np.uint64, (TW,)),  # (TW,) cities of Basic Training
            ("chunk_targets", np.uint64, (sizes.chunks, 64, TW)),  # targets of the subset's territories
            ("chunk_sources", np.uint64, (sizes.chunks, 64, TW)),  # sources of the subset's territories
            ("chunk_out", np.uint64, (sizes.chunks, 64, BW)),  # borders from the subset's territories
            ("chunk_in", np.uint64, (sizes.chunks, 64, BW)),  # borders to the subset's territories
            ("mission_continents", np.uint64, (MAX_MISSIONS,)),  # (64,) continents as bits
            *((number, np.int64) for number in NUMBERS_OF_A_MAP),
            ("continent_bonus", np.int32, (C,)),
            ("border_source", np.int16, (B,)),
            ("border_target", np.int16, (B,)),
            ("continent_of", np.int8, (T,)),
            *(
                (f"mission_{each}", np.int16, (MAX_MISSIONS,))
                for each in ("territories", "min_troops", "fallback")
            ),
            *((f"mission_{fact}", np.int8, (MAX_MISSIONS,)) for fact in ("kind", "target")),
            *((f"mission_{flag}", np.uint8, (MAX_MISSIONS,)) for flag in ("any_third", "extended")),
            ("goal_count", np.int16, (NUM_OBJECTIVES,)),
            *((f"goal_{fact}", np.int8, (NUM_OBJECTIVES,)) for fact in ("kind", "continent")),
            ("goal_major", np.uint8, (NUM_OBJECTIVES,)),
            ("goal_fixed", np.uint8, (NUM_OBJECTIVES,)),  # face up in Basic Training
        ]
    )


@cache
def rules_dtype(sizes: SizeClass) -> np.dtype[Any]:
    """Return the dtype of a rules record.

    The record contains the options, and facts that also depend on the map. Examples are the number of
    actions, the first action of each block, and the record of a game before its set-up.
    """
    T = sizes.territories
    return packed(
        [
            ("empty", game_dtype(sizes)),  # a game before its set-up
            ("chart_troops", np.int32, (T,)),
            ("initial_troops", np.int64),
            ("max_troops", np.int64),  # per territory, at most MOST_TROOPS (RULES 1.5, 10.3)
            ("max_rounds", np.int64),  # UNLIMITED if there is no limit; `max_battles` likewise
            ("max_battles", np.int64),
            ("amount_words", np.uint32, (MANY + 1,)),  # legal amounts, as bits, for 0, 1, ..., MANY troops
            ("amounts", np.int32, (len(AMOUNTS),)),
            ("chart_capital", np.int16, (MAX_SEATS,)),
            ("chart_owner", np.int8, (T,)),
            ("headquarters_to_win", np.int8),
            ("num_players", np.int64),
            ("num_armies", np.int64),  # players, plus the neutral army if there is one
            ("num_actions", np.int64),
            *((f"{block}_0", np.int64) for block in ("border", "dice", "amount", "card", "die", "objective")),
            ("done", np.int64),
            *((option, np.int8) for option in OPTION_VALUES),
            *((option, np.bool_) for option in OPTION_FLAGS),
        ]
    )


def packed(fields: list[Any]) -> np.dtype[Any]:
    """Return the dtype of a record with these fields, widest first, without padding between fields.

    A field `spare` fills the record to a multiple of 8 bytes. Equal games therefore consist of equal bytes.
    """
    widest_first = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)
    spare = -np.dtype(widest_first).itemsize % 8
    fields = widest_first + ([("spare", np.int8, (spare,))] if spare else [])
    return np.dtype((np.record, np.dtype(fields, align=True)))  # fields are attributes, compiled or not
