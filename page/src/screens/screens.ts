/** The page's screens, of which one is shown. */

import { byId, within } from "../dom.js";

const SCREENS = ["loading", "failed", "menu", "drive"] as const;

/** Show a screen, and begin there with the keyboard: its heading says where one is. */
export function show(screen: (typeof SCREENS)[number]): void {
  closeDialogs();
  for (const id of SCREENS) byId(id, HTMLElement).hidden = id !== screen;
  document.body.className = screen;
  const heading = byId(screen, HTMLElement).querySelector<HTMLElement>("h1[tabindex]");
  heading?.focus({ preventScroll: true });
}

/** Tell why the page cannot start. */
export function fail(why: string): void {
  show("failed");
  byId("failed-why", HTMLElement).textContent = why;
}

/** Open a dialog; return what it was closed with. `key` closes it, with a value. */
export function ask(id: string, key = "", value = ""): Promise<string> {
  const dialog = byId(id, HTMLDialogElement);
  dialog.returnValue = "";
  dialog.showModal();
  const ended = new AbortController();
  dialog.addEventListener("close", () => ended.abort(), { once: true });
  dialog.addEventListener("keydown", (event) => event.key.toLowerCase() === key && dialog.close(value), ended);
  within(dialog, "form button", HTMLButtonElement).focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

/** Close a dialog as its button with that value does; nothing is done where it is not open. */
export function answer(id: string, value: string): void {
  const dialog = byId(id, HTMLDialogElement);
  if (dialog.open) dialog.close(value);
}

/** Whether a dialog is open. */
export function isAsking(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

/** Close whatever dialog is open. */
export function closeDialogs(): void {
  for (const dialog of document.querySelectorAll("dialog")) if (dialog.open) dialog.close("closed");
}
