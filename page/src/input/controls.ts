/** Keys, gamepads and fingers together. */

import { byId } from "../dom.js";
import type { Command } from "./commands.js";
import { Gamepads } from "./gamepad.js";
import { Keyboard } from "./keyboard.js";
import { Touch } from "./touch.js";
import { NO_WISH, strongest, type Wish } from "./wish.js";

/** All devices, from when it is made until it is closed. */
export class Controls {
  /** Is told of each command. */
  onCommand: (command: Command) => void = () => {};
  private readonly keyboard = new Keyboard((command) => this.onCommand(command));
  private readonly gamepads = new Gamepads((command) => this.onCommand(command));
  private readonly touch = new Touch(
    byId("steer", HTMLElement),
    byId("knob", HTMLElement),
    byId("go", HTMLElement),
    byId("brake", HTMLElement),
  );
  private ofGamepads = NO_WISH;

  /** Look at the devices that tell nothing by themselves; once a frame. */
  poll(): void {
    this.ofGamepads = this.gamepads.poll();
  }

  /** What the person wants now. */
  wish(): Wish {
    return strongest([this.keyboard.wish(), this.ofGamepads, this.touch.wish()]);
  }

  close(): void {
    this.keyboard.close();
    this.touch.close();
  }
}
