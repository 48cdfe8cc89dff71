/** A line that tells what has just happened. */

import { byId } from "../dom.js";

const SHOWN_MS = 4000;

/** The line's element. */
export class News {
  private readonly line = byId("news", HTMLElement);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.line.textContent = "";
  }

  /** Show a text for some seconds. */
  say(text: string): void {
    clearTimeout(this.timer);
    this.line.textContent = text;
    this.timer = setTimeout(() => this.close(), SHOWN_MS);
  }

  /** Show nothing. */
  close(): void {
    clearTimeout(this.timer);
    this.line.textContent = "";
  }
}
