"""The notes of one root: `book.py` writes and erases them and looks through their folder,
`batch.py` takes in what people changed by hand, `doomed.py` sees erased files gone. Files are
reached through the port `NoteFolder`, rows through `Store`."""

from camillo.notebook.batch import FILE
from camillo.notebook.book import Notebook, Problem, Saved

__all__ = ["FILE", "Notebook", "Problem", "Saved"]
