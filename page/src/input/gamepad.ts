/** Gamepads, in the standard layout of the Gamepad API. */

import { type Command, GAMEPAD_COMMANDS } from "./commands.js";
import { NO_WISH, strongest, type Wish } from "./wish.js";

const DEAD_ZONE = 0.12; // of the stick, which never rests at 0
const BUTTON = { accelerate: 0, brake: 1, leftTrigger: 6, rightTrigger: 7, left: 14, right: 15 } as const;

/** All gamepads together. */
export class Gamepads {
  private readonly pressed = new Set<number>();

  constructor(private readonly onCommand: (command: Command) => void) {}

  /** Look at the gamepads: once a frame, as they tell nothing by themselves. */
  poll(): Wish {
    const pads = [...(navigator.getGamepads?.() ?? [])].filter((pad) => pad?.connected);
    if (pads.length === 0) return NO_WISH;
    this.pressCommands(pads as Gamepad[]);
    return strongest((pads as Gamepad[]).map(wishOf));
  }

  private pressCommands(pads: readonly Gamepad[]): void {
    for (const [button, command] of Object.entries(GAMEPAD_COMMANDS)) {
      const index = Number(button);
      const isDown = pads.some((pad) => pad.buttons[index]?.pressed);
      if (isDown && !this.pressed.has(index)) this.onCommand(command);
      if (isDown) this.pressed.add(index);
      else this.pressed.delete(index);
    }
  }
}

/** What one gamepad asks for. */
export function wishOf(pad: Pick<Gamepad, "axes" | "buttons">): Wish {
  const value = (button: number) => pad.buttons[button]?.value ?? 0;
  const cross = value(BUTTON.right) - value(BUTTON.left);
  return {
    steer: cross !== 0 ? cross : beyondDeadZone(pad.axes[0] ?? 0),
    throttle: Math.max(value(BUTTON.rightTrigger), value(BUTTON.accelerate)),
    brake: Math.max(value(BUTTON.leftTrigger), value(BUTTON.brake)),
  };
}

function beyondDeadZone(axis: number): number {
  const size = Math.max(0, Math.abs(axis) - DEAD_ZONE) / (1 - DEAD_ZONE);
  return Math.sign(axis) * Math.min(size, 1);
}
