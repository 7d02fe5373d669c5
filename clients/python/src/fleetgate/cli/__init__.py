"""The command line: for workers that are not Python too."""
