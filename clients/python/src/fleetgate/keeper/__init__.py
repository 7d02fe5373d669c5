"""The keeper: beats for a pod, renews what it holds, and says when a lease is lost."""
