/** Fingers: a strip to slide on for steering, and two pedals to hold. */

import type { Wish } from "./wish.js";

const FULL = 0.4; // share of the strip's width from its middle at which the wish is full

/** The controls on a touch screen. */
export class Touch {
  private steer = 0;
  private throttle = 0;
  private brake = 0;
  private readonly end = new AbortController();

  constructor(
    private readonly strip: HTMLElement,
    private readonly knob: HTMLElement,
    private readonly go: HTMLElement,
    private readonly stop: HTMLElement,
  ) {
    this.follow(strip, (event) => {
      const box = strip.getBoundingClientRect();
      const share = event === null ? 0 : (event.clientX - box.left - box.width / 2) / (box.width * FULL);
      this.steer = Math.min(Math.max(share, -1), 1);
      knob.style.translate = `${this.steer * box.width * FULL}px 0`;
    });
    this.follow(go, (event) => {
      this.throttle = event === null ? 0 : 1;
    });
    this.follow(stop, (event) => {
      this.brake = event === null ? 0 : 1;
    });
  }

  wish(): Wish {
    return { steer: this.steer, throttle: this.throttle, brake: this.brake };
  }

  close(): void {
    this.end.abort();
    for (const element of [this.strip, this.go, this.stop]) element.classList.remove("held");
    this.knob.style.translate = "";
  }

  /** Tell of a finger that is down on an element, and with null of its end, wherever it has gone meanwhile. */
  private follow(element: HTMLElement, tell: (event: PointerEvent | null) => void): void {
    const { signal } = this.end;
    let finger: number | null = null;
    element.addEventListener(
      "pointerdown",
      (event) => {
        if (finger !== null) return;
        finger = event.pointerId;
        element.classList.add("held");
        element.setPointerCapture(finger);
        event.preventDefault();
        tell(event);
      },
      { signal },
    );
    element.addEventListener("pointermove", (event) => event.pointerId === finger && tell(event), { signal });
    for (const name of ["pointerup", "pointercancel"] as const) {
      element.addEventListener(
        name,
        (event) => {
          if (event.pointerId !== finger) return;
          finger = null;
          element.classList.remove("held");
          tell(null);
        },
        { signal },
      );
    }
  }
}
