"""Random maps, which have names such as `random:7:territories=60,continents=8`.

Maps are computed in integer arithmetic, so a name gives the same map on every machine.
"""
