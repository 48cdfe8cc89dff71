/** A track to drive on: its geometry and the look-up tables that answer a tick's questions fast. */

import { InputError } from "../checks.js";
import type { Physics } from "../physics.js";
import { CentreSearch } from "./centre_search.js";
import { MAX_CONTACT_RADIUS, WallContacts } from "./contacts.js";
import { TrackGeometry, type TrackShape } from "./geometry.js";
import { RayCaster } from "./rays.js";
import { gatherWalls } from "./walls.js";

/**
 * A track for one physics, shared by all simulations on it.
 *
 * `contacts` and `centre` leave what they found in their fields until they are asked again, so that a tick allocates
 * nothing.
 */
export class Track {
  readonly geometry: TrackGeometry;
  /** Nearest wall points. */
  readonly contacts: WallContacts;
  /** Rays against the walls. */
  readonly rays: RayCaster;
  /** Nearest points of the centre line. */
  readonly centre: CentreSearch;

  /** Build geometry and tables; throws an InputError when the physics look for contacts farther than the tables do. */
  constructor(
    shape: TrackShape,
    readonly physics: Physics,
  ) {
    const contactRadius = physics.width / 2 + physics.contactPadding;
    if (contactRadius > MAX_CONTACT_RADIUS) {
      throw new InputError(
        `physics: half of car.width plus wall.contactPadding must be at most ${MAX_CONTACT_RADIUS}, got ${contactRadius}`,
      );
    }
    this.geometry = new TrackGeometry(shape, physics.wallOffset);
    const walls = gatherWalls(this.geometry);
    this.contacts = new WallContacts(walls);
    this.rays = new RayCaster(walls, {
      count: physics.rayCount,
      fieldOfView: physics.rayFieldOfView,
      maxDistance: physics.rayMaxDistance,
    });
    this.centre = new CentreSearch(this.geometry.centreLine);
  }
}
