/** The help: every key, button and finger. */

import { byId, make, within } from "../dom.js";
import { HELP, type HelpRow } from "../input/commands.js";
import { ask } from "./screens.js";

/** Fill the help's table; on a phone, fingers come first. */
export function fillHelp(): void {
  const isTouch = ({ keys }: HelpRow) => Number(keys === "Touch" && matchMedia("(pointer: coarse)").matches);
  const rows = [...HELP]
    .sort((a, b) => isTouch(b) - isTouch(a))
    .map(({ keys, does }) => {
      const head = make("th", "", keys);
      head.scope = "row";
      return make("tr", "", [head, make("td", "", does)]);
    });
  within(byId("help", HTMLDialogElement), "tbody", HTMLElement).replaceChildren(...rows);
}

/** Show the help until it is closed. */
export async function showHelp(): Promise<void> {
  await ask("help", "?");
}
