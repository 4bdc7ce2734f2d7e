"""PipeMux apps in Python: a dataclass is the state, methods are the actions.

`App` has the hooks of an app, `action` makes actions of its methods, a `Thing` is what
they act on, a `View` is what readers see, and `run` serves the app.
"""

from .app import App, Job, Opening, Request, action, prototypes
from .errors import Fault, Mistake
from .helpers import Pages, Undo, new_key
from .media import Image
from .schema import Secret, Thing
from .serve import run
from .view import Code, Done, Link, View, link

__all__ = ["App", "Code", "Done", "Fault", "Image", "Job", "Link", "Mistake", "Opening"]
__all__ += ["Pages", "Request", "Secret", "Thing", "Undo", "View"]
__all__ += ["action", "link", "new_key", "prototypes", "run"]
