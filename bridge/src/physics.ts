/** The frozen physics: the checks of `physics.json`. It reads no files itself, so that a browser can run it as well. */

import { Checker } from "./checks.js";
import { RAY_COUNT } from "./engine/contract.js";

/** Name in `Physics` -> group and key in `physics.json`. */
const SOURCES = {
  /** kg */
  mass: ["car", "mass"],
  /** units */
  wheelbase: ["car", "wheelbase"],
  /** units; half of it is the collision radius */
  width: ["car", "width"],
  /** kg units/s^2 */
  maxEngineForce: ["car", "maxEngineForce"],
  /** kg units/s^2 */
  maxBrakeForce: ["car", "maxBrakeForce"],
  /** kg/units; times speed squared it is a force */
  dragCoefficient: ["car", "dragCoefficient"],
  /** kg units/s^2 */
  rollingResistance: ["car", "rollingResistance"],
  /** units/s */
  maxSpeed: ["car", "maxSpeed"],
  /** radians */
  maxWheelAngle: ["steering", "maxWheelAngle"],
  /** s/units; how speed makes the steering smaller */
  steeringSpeedFactor: ["steering", "speedFactor"],
  /** 1/s */
  steerRate: ["response", "steer"],
  /** 1/s */
  throttleRate: ["response", "throttle"],
  /** 1/s */
  brakeRate: ["response", "brake"],
  /** share of lateral velocity that a tick takes at rest */
  slowTraction: ["traction", "slow"],
  /** the same at top speed */
  fastTraction: ["traction", "fast"],
  /** units/s; below it the heading follows the wheels simply */
  lowSpeed: ["guard", "lowSpeed"],
  /** units/s; below it resistance cannot reverse the car */
  reverseBrakeSpeed: ["guard", "reverseBrake"],
  /** share of velocity along a wall that a contact takes */
  wallFriction: ["wall", "friction"],
  /** units from the road's edge to the wall */
  wallOffset: ["wall", "offset"],
  /** units beyond the collision radius that count as wall contact */
  contactPadding: ["wall", "contactPadding"],
  /** factors on traction and on engine force, by surface */
  roadGrip: ["surface", "roadGrip"],
  runoffGrip: ["surface", "runoffGrip"],
  shoulderGrip: ["surface", "shoulderGrip"],
  roadSpeed: ["surface", "roadSpeed"],
  runoffSpeed: ["surface", "runoffSpeed"],
  shoulderSpeed: ["surface", "shoulderSpeed"],
  rayCount: ["rays", "count"],
  /** radians from the first ray to the last */
  rayFieldOfView: ["rays", "fieldOfView"],
  /** units */
  rayMaxDistance: ["rays", "maxDistance"],
  /** radians/s that an observation calls 1 */
  maxYawRate: ["observation", "maxYawRate"],
  /** units that an observation calls 1 */
  maxCentreDistance: ["observation", "maxCentreDistance"],
} as const;

type PhysicsName = keyof typeof SOURCES;

/** The numbers of `physics.json`, all above 0. */
export type PhysicsNumbers = { readonly [Name in PhysicsName]: number };

/** The numbers, and the SHA-256 of the parsed content of `physics.json` (64 hexadecimal digits). */
export type Physics = PhysicsNumbers & { readonly fingerprint: string };

/**
 * Check parsed physics.
 *
 * @param document The parsed JSON document.
 * @param where Its name in error messages, a path for example.
 * @throws InputError A key is absent or unknown, or a number is not finite or not above 0.
 */
export function parsePhysicsNumbers(document: unknown, where: string): PhysicsNumbers {
  const check = new Checker(where);
  const groups = new Map<string, string[]>();
  for (const [group, key] of Object.values(SOURCES)) groups.set(group, [...(groups.get(group) ?? []), key]);

  const names = [...groups.keys()];
  const content = check.object(document, "the physics", names, names);
  const sections = new Map<string, Record<string, unknown>>();
  for (const [group, keys] of groups) sections.set(group, check.object(content[group], group, keys, keys));

  const numbers = Object.entries(SOURCES).map(([name, [group, key]]) => {
    const number = check.number(sections.get(group)?.[key], `${group}.${key}`);
    if (number <= 0) throw check.fail(`${group}.${key} must be above 0, got ${number}`);
    return [name, number] as const;
  });
  const values = Object.fromEntries(numbers) as Record<PhysicsName, number>;
  if (values.rayCount !== RAY_COUNT) throw check.fail(`rays.count must be ${RAY_COUNT}, got ${values.rayCount}`);
  return values;
}
