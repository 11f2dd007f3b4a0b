"""Views of the operations: a command line today. Nothing here decides anything."""
