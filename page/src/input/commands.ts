/** What keys and buttons do besides driving. */

/** Everything that can be asked of the screen on which is driven. */
export type Command =
  | "pause"
  | "restart"
  | "reset"
  | "camera"
  | "rays"
  | "assist"
  | "nextCar"
  | "faster"
  | "slower"
  | "save"
  | "help"
  | "menu";

/** A row of the help: what is pressed, and what it does. */
export interface HelpRow {
  readonly keys: string;
  readonly does: string;
}

/** Commands by the character that a key types. */
export const KEY_COMMANDS: Readonly<Record<string, Command>> = {
  " ": "pause",
  p: "pause",
  Enter: "restart",
  Backspace: "reset",
  r: "reset",
  c: "camera",
  v: "rays",
  h: "assist",
  n: "nextCar",
  "+": "faster",
  "=": "faster",
  "-": "slower",
  "?": "help",
  Escape: "menu",
};

/** Commands by the number of a button in the standard layout of the Gamepad API. */
export const GAMEPAD_COMMANDS: Readonly<Record<number, Command>> = {
  2: "rays",
  3: "reset",
  8: "restart",
  9: "pause",
  5: "camera",
};

export const HELP: readonly HelpRow[] = [
  { keys: "Left and right arrow, A and D", does: "steer" },
  { keys: "Up arrow, W", does: "accelerate" },
  { keys: "Down arrow, S", does: "brake" },
  { keys: "Space, P", does: "pause" },
  { keys: "Enter", does: "start again" },
  { keys: "R, Backspace", does: "put the car back on the road; the lap no longer counts" },
  { keys: "C", does: "camera: following with the heading up, following with north up, all of the track" },
  { keys: "V", does: "what the car sees: its nine rays" },
  { keys: "H", does: "steering assist on or off: it limits the lock by speed, and turns the wheels gently" },
  { keys: "N", does: "look at the next car" },
  { keys: "+ and -", does: "faster and slower, when watching" },
  { keys: "?", does: "this help" },
  { keys: "Escape", does: "back to the menu" },
  { keys: "Gamepad", does: "left stick or cross steers; right trigger or A accelerates; left trigger or B brakes" },
  {
    keys: "Gamepad",
    does: "Start pauses, Back starts again, Y puts the car back, X shows rays, right shoulder: camera",
  },
  { keys: "Touch", does: "slide in the left corner to steer; hold Go or Brake in the right one" },
];
