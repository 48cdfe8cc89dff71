/** Draws a frame: ground, marks, rays, cars and their names. */

import type { Physics } from "../../../bridge/src/physics.js";
import type { Pose } from "../game/poses.js";
import { Backdrop } from "./backdrop.js";
import { Screen } from "./canvas.js";
import { type CarLook, drawCar, LENGTH } from "./car_shape.js";
import { Ground } from "./ground.js";
import type { Outline } from "./outline.js";
import type { Palette } from "./palette.js";
import { drawRays } from "./rays.js";
import { SkidMarks } from "./skid_marks.js";
import { boxOf, pixelOf, useWorld, type View } from "./view.js";

const SMALLEST = 26; // CSS pixels; the length of a car that is seen from far above
const LABEL_HEIGHT = 14; // CSS pixels
const LONGEST = 28; // characters of a name above a car
const GHOST_OPACITY = 0.45;
const HARD_BRAKE = 0.3; // from which the lights show

/** A car to draw. */
export interface DrawnCar {
  readonly pose: Pose;
  readonly colour: string;
  /** Its name; empty where nobody asks whose it is. */
  readonly label: string;
  readonly isGhost: boolean;
  readonly steer: number;
  readonly brake: number;
  readonly speed: number;
}

/** What a frame shows besides the cars. */
export interface Look {
  /** Where a car is whose rays are drawn, and what it observes; null for none. */
  readonly rays: { readonly pose: Pose; readonly observation: Float64Array } | null;
  readonly hasLabels: boolean;
}

/** The view of one track. */
export class Stage {
  readonly screen: Screen;
  readonly marks = new SkidMarks();
  private backdrop: Backdrop;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly outline: Outline,
    private colours: Palette,
    private readonly physics: Physics,
  ) {
    this.screen = new Screen(canvas, true);
    this.backdrop = new Backdrop(new Ground(outline, colours));
  }

  /** Draw in other colours from now on. */
  paint(colours: Palette): void {
    this.colours = colours;
    this.backdrop = new Backdrop(new Ground(this.outline, colours));
  }

  /** Draw a frame; the last car is on top. The canvas has been fitted. */
  draw(view: View, cars: readonly DrawnCar[], look: Look): void {
    const { screen } = this;
    const { context, density } = screen;
    useWorld(context, view, density);
    this.backdrop.draw(context, view);
    this.marks.draw(context, boxOf(view), this.colours.skid);
    if (look.rays !== null) {
      drawRays(context, look.rays.pose, look.rays.observation, this.physics, this.colours.ray, view.scale);
    }
    const size = Math.max(1, SMALLEST / (LENGTH * view.scale));
    for (const car of cars) drawCar(context, car.pose, this.lookOf(car, size));
    if (!look.hasLabels) return;
    screen.usePixels();
    this.drawLabels(view, [...cars].reverse(), size * view.scale);
  }

  /** Write the cars' names above them; one that would cover another is left out. */
  private drawLabels(view: View, cars: readonly DrawnCar[], unit: number): void {
    const taken: { x: number; y: number; half: number }[] = [];
    const { context } = this.screen;
    context.font = "600 12px system-ui, sans-serif";
    for (const { pose, label: name } of cars) {
      if (name === "") continue;
      const label = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}\u2026` : name;
      const [wanted, middle] = pixelOf(view, pose.x, pose.y);
      const y = middle - unit * 2.6 - LABEL_HEIGHT;
      const half = context.measureText(label).width / 2;
      const isSeen = wanted > 0 && wanted < view.width;
      const x = isSeen ? Math.min(Math.max(wanted, half + 2), view.width - half - 2) : wanted; // whole, at an edge too
      if (taken.some((other) => Math.abs(other.y - y) < LABEL_HEIGHT && Math.abs(other.x - x) < other.half + half + 4))
        continue;
      taken.push({ x, y, half });
      drawLabel(context, label, x, y);
    }
  }

  private lookOf({ colour, isGhost, steer, brake, speed }: DrawnCar, size: number): CarLook {
    const { maxWheelAngle, steeringSpeedFactor } = this.physics;
    return {
      colour,
      size,
      wheelAngle: (-steer * maxWheelAngle) / (1 + speed * steeringSpeedFactor),
      opacity: isGhost ? GHOST_OPACITY : 1,
      isBraking: brake > HARD_BRAKE,
    };
  }
}

/** Write a name that is legible on any ground. */
function drawLabel(context: CanvasRenderingContext2D, label: string, x: number, y: number): void {
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = "rgb(0 0 0 / 0.65)";
  context.strokeText(label, x, y);
  context.fillStyle = "#fff";
  context.fillText(label, x, y);
}
