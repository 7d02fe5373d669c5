"""The answers of the wire, in its own names. `*_ms` are durations, `*_at` epoch milliseconds of the coordinator."""
