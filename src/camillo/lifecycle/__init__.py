"""What becomes of memories later: erasing, and care of the store."""
