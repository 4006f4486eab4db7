"""Limits of every server in this package: host names, request rates, connections and logs."""
