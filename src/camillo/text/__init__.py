"""Pure functions over text: tokens, chunks, closets, dates, passages."""
