"""Random maps: `random:SEED:territories=60,continents=8`.

Maps are computed in integer arithmetic, so a name gives the same map on every machine.
"""
