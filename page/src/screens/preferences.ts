/** How a person likes to drive, as long as the page is open. */

import type { CameraMode } from "../drawing/camera.js";

/** Chosen by keys and buttons while driving, and kept from one drive to the next. */
export interface Preferences {
  camera: CameraMode;
  hasRays: boolean;
  isAssisted: boolean;
  /** Whether the person was told how to drive. */
  wasTold: boolean;
}

/** A turning picture makes some people sick, who tell their system so. */
export function defaultPreferences(): Preferences {
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { camera: isCalm ? "north" : "heading", hasRays: false, isAssisted: true, wasTold: false };
}
