"""The physics that a model was trained on, against those of the game now."""

from racer_env.errors import ModelError
from racer_env.physics import Physics
from training.checkpoints.data import ModelData

UNKNOWN_PHYSICS = "unknown"  # instead of the fingerprint, where a bridge did not tell


def check_physics(data: ModelData, physics: Physics | None) -> None:
    """Refuse a model of other physics; where they are not known, anything goes.

    Raises:
        ModelError: Its fingerprint is another one.
    """
    trained_on = data.get("physics_fingerprint", str, None)
    if physics is None:
        return
    if trained_on == UNKNOWN_PHYSICS:
        raise ModelError(
            f"{data.path} was trained over a bridge that does not tell its physics; go on over that bridge, with "
            "--bridge-url (training.parity compares it with the simulator; training.evaluate takes --any-physics)"
        )
    if trained_on != physics.fingerprint:
        raise ModelError(
            f"{data.path} was trained on other physics: {str(trained_on)[:12]} against {physics.fingerprint[:12]} now; "
            "go back to the physics.json that it was trained on"
        )
