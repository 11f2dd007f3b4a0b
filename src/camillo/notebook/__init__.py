"""The notes of one root: `book.py` writes and erases them and looks through their folder,
`batch.py` takes in what people changed by hand, `problems.py` says what of it could not be read,
`moving.py` takes a file to another room, `doomed.py` sees erased files gone, `listing.py` keeps a
page that lists notes. Files are reached through the port `NoteFolder`, rows through `Store`.
"""

from camillo.notebook.batch import FILE
from camillo.notebook.book import Notebook, Saved
from camillo.notebook.problems import Problem

__all__ = ["FILE", "Notebook", "Problem", "Saved"]
