/** The cars from first to last, each a button that looks at it. */

import { byId, make, within, write } from "../dom.js";
import { carColour } from "../drawing/palette.js";
import type { Session } from "../game/session.js";
import { gapText, timeText } from "../words.js";

const SVG = "http://www.w3.org/2000/svg";

/** A row's elements. */
interface Row {
  readonly item: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly place: HTMLElement;
  readonly gap: HTMLElement;
}

/** The panel's list of cars. */
export class Order {
  private readonly rows: readonly Row[];
  private readonly list = within(byId("order", HTMLElement), "ol", HTMLElement);

  constructor(
    private readonly session: Session,
    onLook: (car: number) => void,
  ) {
    this.rows = session.entrants.map(({ label }, car) => {
      const [place, gap] = [make("span"), make("span")];
      const button = make("button", "", [place, swatch(car), make("span", "name", label), gap]);
      button.type = "button";
      button.addEventListener("click", () => onLook(car));
      return { item: make("li", "", [button]), button, place, gap };
    });
    this.list.replaceChildren(...this.rows.map(({ item }) => item));
  }

  /** Show who is where, and which car is looked at. */
  show(focus: number): void {
    for (const [index, { car, finish, gap }] of this.session.standings().entries()) {
      const row = this.rows[car];
      write(row.place, String(index + 1));
      const text = finish !== null && index === 0 ? timeText(finish) : index === 0 || gap === null ? "" : gapText(gap);
      write(row.gap, text);
      row.button.setAttribute("aria-pressed", String(car === focus));
      if (this.list.children[index] !== row.item) this.list.insertBefore(row.item, this.list.children[index] ?? null);
    }
  }
}

/** A square in a car's colour. */
export function swatch(car: number): SVGElement {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", "swatch");
  picture.setAttribute("viewBox", "0 0 10 10");
  picture.setAttribute("aria-hidden", "true");
  const square = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({
    ...{ x: "0.5", y: "0.5", width: "9", height: "9", rx: "2" },
    ...{ fill: carColour(car), stroke: "currentColor", "stroke-opacity": "0.4" },
  })) {
    square.setAttribute(name, value);
  }
  picture.append(square);
  return picture;
}
