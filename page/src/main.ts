/** Begins the page. */

import { Racer } from "./console.js";
import { paintDocument } from "./drawing/palette.js";
import { Library, messageOf } from "./loading.js";
import { Page } from "./page.js";
import { fillHelp } from "./screens/help.js";
import { fail } from "./screens/screens.js";

paintDocument();
fillHelp();
try {
  const library = await Library.open();
  globalThis.racer = new Racer(library);
  new Page(library);
} catch (error) {
  fail(`${messageOf(error)}.`);
}
