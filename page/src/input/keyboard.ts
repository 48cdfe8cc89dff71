/** Keys: those held to drive, and those pressed for a command. */

import { type Command, KEY_COMMANDS } from "./commands.js";
import type { Wish } from "./wish.js";

/** Places on the keyboard, whatever its layout: W A S D is Z Q S D on a French one. */
const PLACES = {
  left: ["ArrowLeft", "KeyA"],
  right: ["ArrowRight", "KeyD"],
  throttle: ["ArrowUp", "KeyW"],
  brake: ["ArrowDown", "KeyS"],
} as const;

const DRIVING: readonly string[] = Object.values(PLACES).flat();

/** The keys of a page, from when it is made until it is closed. */
export class Keyboard {
  private readonly held = new Set<string>();
  private readonly end = new AbortController();

  constructor(private readonly onCommand: (command: Command) => void) {
    const { signal } = this.end;
    addEventListener("keydown", (event) => this.down(event), { signal });
    addEventListener("keyup", (event) => this.held.delete(event.code), { signal });
    addEventListener("blur", () => this.held.clear(), { signal }); // a release elsewhere is never told
  }

  wish(): Wish {
    const is = (places: readonly string[]) => (places.some((place) => this.held.has(place)) ? 1 : 0);
    return { steer: is(PLACES.right) - is(PLACES.left), throttle: is(PLACES.throttle), brake: is(PLACES.brake) };
  }

  close(): void {
    this.end.abort();
  }

  private down(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event)) return;
    if (DRIVING.includes(event.code)) {
      this.held.add(event.code);
      event.preventDefault(); // arrows would scroll
      return;
    }
    const command = KEY_COMMANDS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (command === undefined || event.repeat) return;
    event.preventDefault();
    this.onCommand(command);
  }
}

/** Whether a key belongs to what has the focus: a dialog, a field, or a button that space and Enter press. */
function isElsewhere(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof Element)) return false;
  if (target.closest("dialog, input, select, textarea") !== null) return true;
  return (event.key === " " || event.key === "Enter") && target.closest("button, a") !== null;
}
