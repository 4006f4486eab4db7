"""What every server of this package needs against strangers: named hosts, rates, limits of connections and logs."""
