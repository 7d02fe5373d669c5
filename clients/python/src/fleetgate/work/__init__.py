"""The worker of a queue: claims tasks, runs a handler, and says how each ended."""
