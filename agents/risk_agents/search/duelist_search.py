"""`duelist_search`: the policy of `duelist`, with its likeliest actions tried out to the end of the turn."""

from risk_agents.learned.duelist import FILE
from risk_agents.search.policy_search import search_bot

BOT = search_bot(FILE, "duelist_search")
