/** A canvas that has the size of its place on the page, in the pixels of the screen. */

const MOST_DENSITY = 2; // pixels per CSS pixel; finer is not seen in motion, and costs time

/** A canvas to draw on anew every frame. */
export class Screen {
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  density = 1;

  /** Whatever is not opaque has to be mixed with what lies below it, on every frame. */
  constructor(
    readonly canvas: HTMLCanvasElement,
    isOpaque = false,
  ) {
    const context = canvas.getContext("2d", { alpha: !isOpaque });
    if (context === null) throw new Error("this browser draws no pictures: it has no 2D canvas");
    this.context = context;
  }

  /** Fit the canvas to its place; return whether there is anything to draw on. */
  fit(): boolean {
    const { clientWidth, clientHeight } = this.canvas;
    this.width = clientWidth;
    this.height = clientHeight;
    this.density = Math.min(window.devicePixelRatio || 1, MOST_DENSITY);
    const [width, height] = [Math.round(clientWidth * this.density), Math.round(clientHeight * this.density)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    return width > 0 && height > 0;
  }

  /** Draw in CSS pixels. */
  usePixels(): void {
    this.context.setTransform(this.density, 0, 0, this.density, 0, 0);
  }
}
