/** Colours, shared with the toolkit's window: dark or light, as the user prefers. */

import colours from "../../../racer_env/rendering/colours.json";

/** The colours of one scheme, as `#rrggbb`. */
export type Palette = typeof colours.dark;

export const { white: WHITE, black: BLACK, tyre: TYRE, glass: GLASS, brakeLight: BRAKE_LIGHT } = colours;

const LIGHT = matchMedia("(prefers-color-scheme: light)");

/** The colours that the user prefers now. */
export function palette(): Palette {
  return LIGHT.matches ? colours.light : colours.dark;
}

/** Be told when the user prefers others. */
export function onPaletteChange(tell: () => void, signal: AbortSignal): void {
  LIGHT.addEventListener("change", tell, { signal });
}

/** Give the style sheet the same colours, as `--text` and so on. */
export function paintDocument(): void {
  for (const [name, colour] of Object.entries(palette())) {
    document.documentElement.style.setProperty(`--${name}`, colour);
  }
}

/** The colour of the car with that index; colours repeat. */
export function carColour(index: number): string {
  return colours.cars[index % colours.cars.length];
}
