/** The help: every key, button and finger. */

import { byId, make, within } from "../dom.js";
import { HELP } from "../input/commands.js";
import { ask } from "./screens.js";

/** Fill the help's table. */
export function fillHelp(): void {
  const rows = HELP.map(({ keys, does }) => {
    const head = make("th", "", keys);
    head.scope = "row";
    return make("tr", "", [head, make("td", "", does)]);
  });
  within(byId("help", HTMLDialogElement), "tbody", HTMLElement).replaceChildren(...rows);
}

/** Show the help until it is closed. */
export async function showHelp(): Promise<void> {
  await ask("help");
}
