/** The telemetry strip: speed, steering, throttle and brake of one car over the last seconds. */

import type { Screen } from "./canvas.js";
import type { Palette } from "./palette.js";

const TICKS = 300; // five seconds
const GAP = 16; // CSS pixels between the fields
const PADDING = 10; // CSS pixels around them
const WIDE = 130; // CSS pixels of a field from which there is room for its name and its value

/** A quantity of the strip. */
interface Field {
  readonly name: string;
  readonly colour: keyof Palette;
  readonly low: number;
  readonly text: (value: number) => string;
}

const FIELDS: readonly Field[] = [
  { name: "Speed", colour: "accent", low: 0, text: (value) => `${Math.round(value * 100)} %` },
  { name: "Steering", colour: "steer", low: -1, text: (value) => steeringText(value) },
  { name: "Throttle", colour: "throttle", low: 0, text: (value) => `${Math.round(value * 100)} %` },
  { name: "Brake", colour: "brake", low: 0, text: (value) => `${Math.round(value * 100)} %` },
];

/** The last seconds of one car. */
export class Telemetry {
  private readonly values = FIELDS.map(() => new Float32Array(TICKS));
  private count = 0;

  /** Forget everything: another car, or another start. */
  clear(): void {
    this.count = 0;
  }

  /** A tick has passed; speed is the share of the top speed. */
  see(speed: number, steer: number, throttle: number, brake: number): void {
    for (const [field, value] of [speed, steer, throttle, brake].entries()) {
      this.values[field][this.count % TICKS] = value;
    }
    this.count += 1;
  }

  /** Draw the fields side by side, newest at the right. */
  draw(screen: Screen, palette: Palette): void {
    if (!screen.fit()) return;
    const { context } = screen;
    screen.usePixels();
    context.clearRect(0, 0, screen.width, screen.height);
    const width = (screen.width - 2 * PADDING - GAP * (FIELDS.length - 1)) / FIELDS.length;
    for (const [index, field] of FIELDS.entries()) {
      this.drawField(context, field, index, PADDING + index * (width + GAP), width, screen.height - PADDING, palette);
    }
  }

  private drawField(
    context: CanvasRenderingContext2D,
    { name, colour, low, text }: Field,
    index: number,
    left: number,
    width: number,
    height: number,
    palette: Palette,
  ): void {
    const values = this.values[index];
    const latest = this.count > 0 ? values[(this.count - 1) % TICKS] : 0;
    const top = 26;
    const place = (value: number) => top + (height - top - 2) * (1 - (value - low) / (1 - low));
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "top";
    context.fillStyle = palette.textDim;
    context.textAlign = "left";
    context.fillText(name, left, PADDING - 2);
    if (width > WIDE) {
      context.fillStyle = palette.text;
      context.textAlign = "right";
      context.fillText(text(latest), left + width, PADDING - 2);
    }
    context.fillStyle = palette.panelLine;
    context.fillRect(left, place(0) - 0.5, width, 1);
    context.beginPath();
    const shown = Math.min(this.count, TICKS);
    for (let age = shown - 1; age >= 0; age -= 2) {
      const value = values[(this.count - 1 - age) % TICKS];
      context.lineTo(left + width * (1 - age / TICKS), place(value));
    }
    context.strokeStyle = palette[colour];
    context.lineWidth = 1.8;
    context.lineJoin = "round";
    context.stroke();
    context.fillStyle = palette[colour];
    const [from, to] = [place(0), place(latest)];
    context.fillRect(left + width - 4, Math.min(from, to), 4, Math.max(Math.abs(to - from), 1.5));
  }
}

/** Steering in words, as a sign alone says nothing of the side. */
function steeringText(value: number): string {
  const share = Math.round(Math.abs(value) * 100);
  return share === 0 ? "straight" : `${share} % ${value > 0 ? "right" : "left"}`;
}
