"""Random maps: `random:SEED:territories=60,continents=8`.

All numbers on which a map depends are integers, so a seed gives the same map on every machine.
"""
