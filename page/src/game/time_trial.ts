/** A time trial: one car against the best lap there is. */

import type { StartState } from "../../../bridge/src/engine/starts.js";
import { bestLapOf, type RecordedLap } from "../storage/recording_file.js";
import type { Lap } from "./laps.js";
import type { Pose } from "./poses.js";
import { Progress } from "./progress.js";
import { type LapPath, Recorder, stateOf } from "./recorder.js";
import type { Session, SessionListener } from "./session.js";

const OWN = "your best lap";
const GAP_AFTER = 5; // units into a lap before which a gap says nothing

/** The lap to beat. */
export interface Ghost {
  /** Whose lap it is, such as "your best lap". */
  readonly label: string;
  /** Whether it is the person's own. */
  readonly isOwn: boolean;
  readonly path: LapPath;
}

/** Records a car's drive, and holds its laps against a ghost. */
export class TimeTrial implements SessionListener {
  /** null until there is a lap to beat. */
  ghost: Ghost | null;
  /** The best lap that was driven in this session, or is kept from earlier ones. */
  best: RecordedLap | null;
  private readonly recorder: Recorder;
  private progress: Progress;

  /**
   * Begin at the standing start.
   *
   * @param car The car in the session that is driven by a person.
   * @param own One's own best lap, if there is one.
   * @param loaded A lap from a file, which is the one to beat where it is given.
   * @param onBest Is told of each lap that is better than one's own best.
   */
  constructor(
    private readonly session: Session,
    private readonly car: number,
    own: RecordedLap | null,
    loaded: RecordedLap | null,
    private readonly onBest: (lap: RecordedLap) => void,
  ) {
    this.best = own;
    this.ghost = own === null ? null : ghostOf(own);
    if (loaded !== null) this.ghost = ghostOf(loaded, `the lap of ${loaded.recording.driver}`);
    this.recorder = new Recorder(stateOf(this.cars, car));
    this.progress = this.begun();
    session.listeners.push(this);
  }

  acted(car: number, action: Float64Array): void {
    if (car !== this.car) return;
    this.recorder.see(action);
    this.progress.see(this.timer.ticks, this.cars.arcLength[car]);
  }

  lapped(car: number, lap: Lap): void {
    if (car !== this.car) return;
    this.progress = this.begun();
    if (!lap.isClean || (this.best !== null && lap.ticks >= this.best.lap.last - this.best.lap.first)) return;
    const drive = this.recorder.drive(stateOf(this.cars, car));
    this.best = bestLapOf({ driver: "you", drive }, this.session.loaded);
    if (this.ghost === null || lap.ticks < this.ghost.path.ticks) this.ghost = ghostOf(this.best);
    this.onBest(this.best);
  }

  placed(car: number, start: StartState): void {
    if (car !== this.car) return;
    this.recorder.begin(start);
    this.progress = this.begun();
  }

  /** Where the ghost is, a share of a tick after the last one; null where there is none, and on an out-lap. */
  ghostPose(share: number): Pose | null {
    if (this.ghost === null || this.timer.isOutLap) return null;
    return this.ghost.path.poseAt(this.timer.ticks, share);
  }

  /** Ticks behind the ghost, negative where ahead; null where that cannot be known. */
  gap(): number | null {
    if (this.ghost === null || this.timer.isOutLap || this.progress.distance < GAP_AFTER) return null;
    const then = this.ghost.path.progress.tickAt(this.progress.distance);
    return then === null ? null : this.timer.ticks - then;
  }

  private get cars() {
    return this.session.world.simulation.cars;
  }

  private get timer() {
    return this.session.world.timers[this.car];
  }

  private begun(): Progress {
    return new Progress(this.session.loaded.track.geometry.totalLength, this.cars.arcLength[this.car]);
  }
}

function ghostOf({ replay, lap }: RecordedLap, label = OWN): Ghost {
  return { label, isOwn: label === OWN, path: replay.path(lap) };
}
