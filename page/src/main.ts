/** Begins the page. */

import { Racer } from "./console.js";
import { Library } from "./loading.js";

globalThis.racer = new Racer(await Library.open());
