/** A line that tells what has just happened. */

import { byId } from "../dom.js";

const SHOWN_MS = 4000; // at least
const MS_PER_CHARACTER = 70; // to read it

/** The line's element. */
export class News {
  private readonly line = byId("news", HTMLElement);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.line.textContent = "";
  }

  /** Show a text for some seconds, for longer where it is long. */
  say(text: string): void {
    clearTimeout(this.timer);
    this.line.textContent = text;
    this.timer = setTimeout(() => this.close(), Math.max(SHOWN_MS, MS_PER_CHARACTER * text.length));
  }

  /** Show nothing. */
  close(): void {
    clearTimeout(this.timer);
    this.line.textContent = "";
  }
}
