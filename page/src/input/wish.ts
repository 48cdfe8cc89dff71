/** What a person wants of the car, whatever they hold in their hands. */

/** Steering in [-1, 1], positive to the right; throttle and brake in [0, 1]. */
export interface Wish {
  readonly steer: number;
  readonly throttle: number;
  readonly brake: number;
}

export const NO_WISH: Wish = { steer: 0, throttle: 0, brake: 0 };

/** Of several devices, the strongest wish for each control. */
export function strongest(wishes: readonly Wish[]): Wish {
  const most = (values: number[]): number => values.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
  return {
    steer: most(wishes.map(({ steer }) => steer)),
    throttle: most(wishes.map(({ throttle }) => throttle)),
    brake: most(wishes.map(({ brake }) => brake)),
  };
}
