"""Notes of other tools, one format a file. `importing` decides what they become."""
