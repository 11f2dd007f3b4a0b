"""Notes as Markdown files: what a folder of them holds, and how each dialect lays a note out."""
