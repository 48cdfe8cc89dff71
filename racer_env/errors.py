"""The project's exceptions: one small tree, so that a script can catch them all.

Every message is one line that says what was expected, what came, where, and what to do.
"""

from racer_env.printable import printable


class RacerError(Exception):
    """Anything that this project refuses or cannot do."""

    def __str__(self) -> str:
        return printable(super().__str__())  # it may quote a stranger's file, or what a peer sent


class ConfigError(RacerError, ValueError):
    """A configuration file or a setting is wrong."""


class TrackError(RacerError, ValueError):
    """A track file is missing or unreadable, or describes no drivable track."""


class ActionError(RacerError, ValueError):
    """An action is not three finite numbers."""


class ClosedError(RacerError, RuntimeError):
    """An environment was used after ``close()`` or before ``reset()``."""


class ModelError(RacerError, ValueError):
    """A model or its statistics are missing or unreadable, or do not fit."""


class TrainingError(RacerError):
    """Training cannot go on, for example because a number is no longer finite."""


class OwnCodeError(TrainingError):
    """A reward or a wrapper of the user's own fails; what was trained until then is sound."""


class BridgeError(RacerError):
    """The bridge, or the connection to it, does not do what it should."""


class BridgeRefusedError(BridgeError):
    """The bridge answered a request with an error; the connection is still usable."""


class BridgeProtocolError(BridgeError):
    """The bridge sent something that the protocol does not allow; the connection is given up."""


class BridgeLostError(BridgeError, ConnectionError):
    """The bridge cannot be reached, has closed the connection, or does not answer in time.

    Python's own ``ConnectionError`` catches it too, and so does ``OSError``.
    """


class PackageError(RacerError, ImportError):
    """A package that a job needs is missing or broken."""


class PageError(RacerError):
    """A page for a browser cannot be built or served."""


class RenderError(RacerError):
    """Something cannot be drawn: there is no display, or the track or the car's position is not known."""


class RecordingError(RacerError, ValueError):
    """A recorded drive is missing or unreadable, or cannot be replayed here."""


class RunError(RacerError, ValueError):
    """The files of a training run are missing or unreadable."""
