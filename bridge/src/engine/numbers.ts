/** What several modules need of numbers. */

/** Units by which a look-up table reaches farther than it has to: far above rounding, far below what costs time. */
export const SAFETY = 1e-6;

/** Limit a value to [low, high]. */
export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** Wrap an angle in radians into [-pi, pi]. */
export function wrapAngle(angle: number): number {
  let wrapped = angle;
  while (wrapped > Math.PI) wrapped -= 2 * Math.PI;
  while (wrapped < -Math.PI) wrapped += 2 * Math.PI;
  return wrapped;
}
