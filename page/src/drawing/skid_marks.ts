/** What tyres leave on the ground where a car slides or brakes hard. */

import type { Cars } from "../../../bridge/src/engine/car.js";
import type { Box } from "./view.js";

const MOST = 1500; // pieces; the oldest go first
const NUMBERS = 4; // of a piece: from x, y to x, y
const SLIDE = 7; // units/s sideways from which a tyre leaves a mark
const HARD_BRAKE = 0.6;
const BRAKE_SPEED = 25; // units/s
const REAR = -1.3; // units from the middle of a car to its rear axle
const TRACK = 0.92; // units from the middle of the axle to a wheel
const WIDTH = 0.4;

/** The marks of all cars. */
export class SkidMarks {
  private readonly pieces = new Float32Array(MOST * NUMBERS);
  private count = 0;
  /** Where each car's rear wheels left marks at the last tick: left x, y, right x, y; null where they did not. */
  private readonly last: (readonly number[] | null)[] = [];

  /** A tick has passed. */
  see(cars: Cars): void {
    for (let car = 0; car < cars.count; car++) {
      if (!isSliding(cars, car)) {
        this.last[car] = null;
        continue;
      }
      const now = rearWheels(cars, car);
      const before = this.last[car];
      if (before) {
        this.add(before[0], before[1], now[0], now[1]);
        this.add(before[2], before[3], now[2], now[3]);
      }
      this.last[car] = now;
    }
  }

  /** A car stands somewhere else. */
  jump(car: number): void {
    this.last[car] = null;
  }

  /** Draw the marks within a box; the canvas draws in world coordinates already. */
  draw(context: CanvasRenderingContext2D, { left, bottom, right, top }: Box, colour: string): void {
    context.beginPath();
    for (let piece = 0; piece < Math.min(this.count, MOST); piece++) {
      const [x, y, toX, toY] = this.pieces.subarray(piece * NUMBERS, (piece + 1) * NUMBERS);
      if (x < left || x > right || y < bottom || y > top) continue;
      context.moveTo(x, y);
      context.lineTo(toX, toY);
    }
    context.globalAlpha = 0.5;
    context.strokeStyle = colour;
    context.lineWidth = WIDTH;
    context.stroke();
    context.globalAlpha = 1;
  }

  private add(...piece: readonly number[]): void {
    this.pieces.set(piece, (this.count % MOST) * NUMBERS);
    this.count += 1;
  }
}

function isSliding(cars: Cars, car: number): boolean {
  const [cos, sin] = [Math.cos(cars.heading[car]), Math.sin(cars.heading[car])];
  const sideways = Math.abs(cars.vy[car] * cos - cars.vx[car] * sin);
  return sideways > SLIDE || (cars.brake[car] > HARD_BRAKE && cars.speed[car] > BRAKE_SPEED);
}

function rearWheels(cars: Cars, car: number): readonly number[] {
  const [cos, sin] = [Math.cos(cars.heading[car]), Math.sin(cars.heading[car])];
  const [x, y] = [cars.x[car] + REAR * cos, cars.y[car] + REAR * sin];
  return [x - TRACK * sin, y + TRACK * cos, x + TRACK * sin, y - TRACK * cos];
}
