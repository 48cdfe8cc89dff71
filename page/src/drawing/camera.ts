/** Cameras: all of the track, or following a car, with its heading or north up. */

import { wrapAngle } from "../../../bridge/src/engine/numbers.js";
import type { Pose } from "../game/poses.js";
import type { Box, View } from "./view.js";

export const CAMERAS = ["heading", "north", "whole"] as const;
export type CameraMode = (typeof CAMERAS)[number];

/** What people call them. */
export const CAMERA_NAMES: Readonly<Record<CameraMode, string>> = {
  heading: "following, heading up",
  north: "following, north up",
  whole: "all of the track",
};

const MARGIN = 14; // units around a whole track
const NEAR = 150; // units of the shorter side that are seen at rest
const FAR = 215; // and at top speed
const LOOK_AHEAD = 0.42; // seconds of driving
const BEHIND = 0.7; // share of the height at which the car is drawn, heading up
const TURN_RATE = 7; // 1/s; how fast the camera follows a turn
const ZOOM_RATE = 1.5; // 1/s
const AHEAD_RATE = 4; // 1/s

/** The size of a canvas in CSS pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** CSS pixels at the upper and the lower edge of a canvas that buttons cover; cars should be between them. */
export interface Covered {
  readonly top: number;
  readonly bottom: number;
}

const NOTHING: Covered = { top: 0, bottom: 0 };

/** Follows a car smoothly. */
export class Camera {
  mode: CameraMode = "heading";
  private turn: number | null = null;
  private span = NEAR;
  private aheadX = 0;
  private aheadY = 0;

  /** Forget where it was, as at a start. */
  cut(): void {
    this.turn = null;
    this.span = NEAR;
    this.aheadX = 0;
    this.aheadY = 0;
  }

  /** The next camera. */
  next(): void {
    this.mode = CAMERAS[(CAMERAS.indexOf(this.mode) + 1) % CAMERAS.length];
    this.cut();
  }

  /**
   * The view of a frame.
   *
   * @param pose Of the car that is followed.
   * @param speed Its share of the top speed.
   * @param velocity Its velocity in units/s.
   * @param seconds Since the last frame.
   */
  view(
    pose: Pose,
    speed: number,
    velocity: readonly [number, number],
    bounds: Box,
    size: Size,
    seconds: number,
    covered = NOTHING,
  ): View {
    if (this.mode === "whole") return wholeView(bounds, size, covered);
    const isHeading = this.mode === "heading";
    const wanted = isHeading ? Math.PI / 2 - pose.heading : 0;
    this.turn ??= wanted;
    this.turn += wrapAngle(wanted - this.turn) * approach(TURN_RATE, seconds);
    this.span += (NEAR + (FAR - NEAR) * speed - this.span) * approach(ZOOM_RATE, seconds);
    const ahead = isHeading ? 0 : LOOK_AHEAD;
    this.aheadX += (velocity[0] * ahead - this.aheadX) * approach(AHEAD_RATE, seconds);
    this.aheadY += (velocity[1] * ahead - this.aheadY) * approach(AHEAD_RATE, seconds);
    return {
      x: pose.x + this.aheadX,
      y: pose.y + this.aheadY,
      scale: Math.min(size.width, size.height) / this.span,
      turn: this.turn,
      anchorX: size.width / 2,
      anchorY: covered.top + (size.height - covered.top - covered.bottom) * (isHeading ? BEHIND : 0.5),
      ...size,
    };
  }
}

/** The view that just fits all of a track, on its side where that is larger. */
export function wholeView(bounds: Box, size: Size, { top, bottom } = NOTHING): View {
  const room = size.height - top - bottom;
  const width = bounds.right - bounds.left + 2 * MARGIN;
  const height = bounds.top - bounds.bottom + 2 * MARGIN;
  const upright = Math.min(size.width / width, room / height);
  const lying = Math.min(size.width / height, room / width);
  return {
    x: (bounds.left + bounds.right) / 2,
    y: (bounds.bottom + bounds.top) / 2,
    scale: Math.max(upright, lying),
    turn: lying > upright ? Math.PI / 2 : 0,
    anchorX: size.width / 2,
    anchorY: top + room / 2,
    ...size,
  };
}

/** The share of the way that is gone in some seconds. */
function approach(rate: number, seconds: number): number {
  return 1 - Math.exp(-rate * seconds);
}
