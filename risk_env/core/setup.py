"""Set-up: starter, missions, cities, Objectives, territories, cards (RULES 4, 6.1, 7.1, 9, 11.4)."""

from numpy import int64

from risk_env.compiler import kernel
from risk_env.core.bits import ONE, ZERO, add, bit, clear, nth_bit, popcount, remove
from risk_env.core.chance import any_of, below, draw_card
from risk_env.core.position import add_troops, any_free, hold, set_troops, with_room
from risk_env.core.turn import begin_turn
from risk_env.core.types import (
    NOWHERE,
    Deck,
    Held,
    Mission,
    Missions,
    Phase,
    Placement,
    Reward,
    Setup,
    Victory,
)

NEUTRAL_IN_A_ROW = 2  # troops that a seat places in a row in a game with a neutral army (RULES 6.1)
DRAWN_OBJECTIVES = 4  # number of minor Objectives, and of major Objectives, that are drawn (RULES 9.3)


@kernel
def set_up(games, i, board, rules, seed):
    """Set up game `i` until the first decision, with `seed` as the state of the random generator.

    Chance events happen in the order of RULES 11.4.
    """
    games[i] = rules.empty
    game = games[i]
    game.random = seed
    game.starter = draw_starter(game, rules)
    if rules.victory == Victory.MISSION:
        deal_missions(game, board, rules)
    place_cities(game, board, rules)
    lay_out_objectives(game, board, rules)
    share_territories(game, board, rules)
    deal_starting_cards(game, rules)
    game.turn = game.starter
    first = int64(game.starter)
    pass_on(game, first if game.to_place[first] > 0 else next_with_troops(game, rules))
    continue_setup(game, board, rules)


@kernel
def draw_starter(game, rules):
    """Return the starting seat (RULES 4.1, 9.1).

    With a start chart, seat 0 starts. Otherwise a roll-off decides, so all seats are equally likely.
    """
    if rules.setup == Setup.CHART:
        return 0
    return below(game, int64(rules.num_players))


@kernel
def mission_pile(board, rules):
    """Return the missions to deal, as bits, without missions against unused colours (RULES 8.1)."""
    pile = ZERO
    for mission in range(board.num_missions):
        unused = (
            board.mission_kind[mission] == Mission.DESTROY
            and board.mission_target[mission] >= rules.num_players
        )
        if not unused and (rules.missions == Missions.EXTENDED or not board.mission_extended[mission]):
            pile |= bit(mission)
    return pile


@kernel
def deal_missions(game, board, rules):
    """Deal one mission to each seat (RULES 8.1)."""
    pile = mission_pile(board, rules)
    for seat in range(rules.num_players):
        mission = nth_bit(pile, below(game, popcount(pile)))
        pile &= ~bit(mission)
        game.mission[seat] = mission


@kernel
def place_cities(game, board, rules):
    """Place the cities of Basic Training, or random cities (RULES 9.1, 9.3)."""
    if rules.cities == Placement.FIXED:
        for w in range(len(game.city)):
            game.city[w] = board.fixed_cities[w]
    elif rules.cities == Placement.RANDOM:
        for w in range(len(game.reach)):
            game.reach[w] = board.everywhere[w]
        for _ in range(board.random_cities):
            territory = any_of(game, game.reach)
            remove(game.reach, territory)
            add(game.city, territory)
        clear(game.reach)


@kernel
def lay_out_objectives(game, board, rules):
    """Lay out the Objectives (RULES 9.1, 9.3).

    Fixed Objectives are the Objectives of Basic Training. With random Objectives, four minor and four major
    Objectives are drawn. Each of these gets a Reward if the game has Rewards.
    """
    if rules.objectives == Placement.FIXED:
        for objective in range(board.num_objectives):
            if board.goal_fixed[objective]:
                game.objective[objective] = Held.FACE_UP
    elif rules.objectives == Placement.RANDOM:
        draw_objectives(game, board, rules, False, Reward.AIRFIELD.value)
        draw_objectives(game, board, rules, True, Reward.MAJOR_AIRFIELD.value)


@kernel
def draw_objectives(game, board, rules, major, first_reward):
    """Lay out four minor Objectives, or four major Objectives if `major` is true (RULES 9.3).

    If the game has Rewards, each Objective gets one of the four Rewards from `first_reward` on.
    """
    pile = ZERO
    for objective in range(board.num_objectives):
        if board.goal_major[objective] == major:
            pile |= bit(objective)
    rewards = ONE | bit(1) | bit(2) | bit(3)
    for _ in range(DRAWN_OBJECTIVES):
        objective = nth_bit(pile, below(game, popcount(pile)))
        pile &= ~bit(objective)
        game.objective[objective] = Held.FACE_UP
        if rules.rewards:
            reward = nth_bit(rewards, below(game, popcount(rewards)))
            rewards &= ~bit(reward)
            game.objective_reward[objective] = first_reward + reward


@kernel
def share_territories(game, board, rules):
    """Give every army its troops to place (RULES 4.2, 4.3).

    Also deal territories and place troops if the rules' `setup` requires it.
    """
    for army in range(rules.num_armies):
        game.to_place[army] = rules.initial_troops
    if rules.setup == Setup.CHART:
        set_up_chart(game, board, rules)
    elif rules.setup == Setup.DEAL or rules.setup == Setup.RANDOM:
        deal_territories(game, board, rules)
        if rules.setup == Setup.RANDOM:
            place_at_random(game, rules)
            choose_at_random(game, board, rules)


@kernel
def set_up_chart(game, board, rules):
    """Set up the start position of Basic Training (RULES 9.1)."""
    for territory in range(board.num_territories):
        hold(game, territory, int64(rules.chart_owner[territory]))
        set_troops(game, territory, int64(rules.chart_troops[territory]))
    for seat in range(rules.num_players):
        game.capital[seat] = rules.chart_capital[seat]
        game.to_place[seat] = 0


@kernel
def army_in_turn(game, rules, number):
    """Return army number `number`, counted from 0, in the order in which territories are dealt (RULES 6.1).

    The order is clockwise from the starter, followed by the neutral army. After the last army, the order
    begins again.
    """
    place = number % int64(rules.num_armies)
    if place >= rules.num_players:
        return place
    return (int64(game.starter) + place) % int64(rules.num_players)


@kernel
def deal_territories(game, board, rules):
    """Deal the territories one by one, with one troop on each (RULES 4.3, 6.1)."""
    for w in range(len(game.reach)):
        game.reach[w] = board.everywhere[w]
    for number in range(board.num_territories):
        territory = any_of(game, game.reach)
        remove(game.reach, territory)
        claim_territory(game, territory, army_in_turn(game, rules, number))


@kernel
def claim_territory(game, territory, army):
    hold(game, territory, army)
    set_troops(game, territory, 1)
    game.to_place[army] -= 1


@kernel
def place_at_random(game, rules):
    """Place the remaining troops of each army on random territories of the army with room (RULES 4.3)."""
    for army in range(rules.num_armies):
        while game.to_place[army] > 0:
            for w in range(len(game.reach)):
                game.reach[w] = with_room(game, rules, w, game.owned[army, w])
            add_troops(game, any_of(game, game.reach), 1)
            game.to_place[army] -= 1
    clear(game.reach)


@kernel
def choose_at_random(game, board, rules):
    """Choose the capitals and headquarters of a random set-up (RULES 4.3, 13)."""
    for seat in range(rules.num_players):
        if rules.capitals:
            game.capital[seat] = any_of(game, game.owned[seat])
    for seat in range(rules.num_players):
        if rules.victory == Victory.HEADQUARTERS:
            choose_headquarters(game, any_of(game, game.owned[seat]), seat)
    game.headquarters_open = rules.victory == Victory.HEADQUARTERS


@kernel
def choose_headquarters(game, territory, seat):
    """Set the headquarters of `seat`, and remove the card of the territory from the deck (RULES 7.1)."""
    game.headquarters[seat] = territory
    remove(game.deck, territory)


@kernel
def deal_starting_cards(game, rules):
    """Deal the starting cards of the star deck (RULES 9.1, 9.3).

    In turn order, the third and the fourth player start with one card, the fifth player with two cards.
    """
    if rules.deck != Deck.STAR:
        return
    for place in range(2, int64(rules.num_players)):
        seat = army_in_turn(game, rules, place)
        draw_card(game, seat)
        if place == 4:
            draw_card(game, seat)


@kernel
def continue_setup(game, board, rules):
    """Set the next phase of the set-up for `game.turn`, or begin the first turn (docs/decisions.md)."""
    if any_free(game, board):
        capital_due = rules.setup == Setup.CAPITALS and game.capital[game.turn] == NOWHERE
        game.phase = Phase.CAPITAL if capital_due else Phase.CLAIM
    elif troops_to_place(game, rules):
        game.phase = Phase.DEPLOY
    elif rules.neutral and game.to_place[rules.num_players] > 0:
        game.phase = Phase.DEPLOY_NEUTRAL
    elif rules.victory == Victory.HEADQUARTERS and not game.headquarters_open:
        game.phase = Phase.HEADQUARTERS
    else:
        game.round_number = 1
        begin_turn(game, board, rules, int64(game.starter))


@kernel
def troops_to_place(game, rules):
    """Return the number of troops that the seats still have to place."""
    total = 0
    for seat in range(rules.num_players):
        total += int64(game.to_place[seat])
    return total


@kernel
def pass_on(game, seat):
    """Make `seat` the seat that acts next in the set-up."""
    game.turn = seat
    game.seat = seat
    game.in_a_row = 0


@kernel
def next_with_troops(game, rules):
    """Return the next seat clockwise that has troops to place, or else the starter (RULES 4.4)."""
    players = int64(rules.num_players)
    for step in range(1, players + 1):
        seat = (int64(game.turn) + step) % players
        if game.to_place[seat] > 0:
            return seat
    return int64(game.starter)


@kernel
def claim(game, board, rules, territory):
    """Place one troop on a free territory (RULES 4.3).

    In the phase CAPITAL, the territory becomes the capital of the seat (RULES 9.3).
    """
    seat = int64(game.turn)
    claim_territory(game, territory, seat)
    if game.phase == Phase.CAPITAL:
        game.capital[seat] = territory
    pass_on(game, next_with_troops(game, rules))
    continue_setup(game, board, rules)


@kernel
def deploy(game, board, rules, territory):
    """Place one troop on a territory of the seat to act (RULES 4.3, 6.1).

    With a neutral army, a seat places two troops in a row, or a single last troop.
    """
    seat = int64(game.turn)
    add_troops(game, territory, 1)
    game.to_place[seat] -= 1
    game.in_a_row += 1
    in_a_row = NEUTRAL_IN_A_ROW if rules.neutral else 1
    if game.in_a_row >= in_a_row or game.to_place[seat] == 0:
        pass_on(game, next_with_troops(game, rules))
    continue_setup(game, board, rules)


@kernel
def deploy_neutral(game, board, rules, territory):
    """Place one neutral troop, then let the other seat act (RULES 6.1)."""
    add_troops(game, territory, 1)
    game.to_place[rules.num_players] -= 1
    pass_on(game, 1 - int64(game.turn))
    continue_setup(game, board, rules)


@kernel
def place_headquarters(game, board, rules, territory):
    """Set the secret headquarters of the seat to act (RULES 7.1).

    All headquarters become public when the last seat has chosen.
    """
    seat = int64(game.turn)
    choose_headquarters(game, territory, seat)
    following = (seat + 1) % int64(rules.num_players)
    game.headquarters_open = following == game.starter
    pass_on(game, following)
    continue_setup(game, board, rules)
