"""`duelist_search`: the policy of `duelist`, with its likeliest actions tried out to the end of the turn."""

from agents.duelist import FILE
from agents.policy_search import search_bot

BOT = search_bot(FILE, "duelist_search")
