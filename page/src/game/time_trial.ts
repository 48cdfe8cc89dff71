/** A time trial: one car against the best lap there is. */

import type { StartState } from "../../../bridge/src/engine/starts.js";
import type { RecordedLap } from "../storage/recording_file.js";
import type { Lap } from "./laps.js";
import { type Pose, poseOf } from "./poses.js";
import { Progress } from "./progress.js";
import { LapPath, Recorder, stateOf } from "./recorder.js";
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
  /** Of the lap that the car is on, from its first tick on. */
  private poses: Pose[];
  private progress: Progress;
  /** The lap before. */
  private done: { readonly poses: readonly Pose[]; readonly progress: Progress };

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
    this.poses = [poseOf(this.cars, car)];
    this.progress = this.begun();
    this.done = { poses: this.poses, progress: this.progress };
    session.listeners.push(this);
  }

  acted(car: number, action: Float64Array): void {
    if (car !== this.car) return;
    this.recorder.see(action);
    this.poses.push(poseOf(this.cars, car));
    this.progress.see(this.poses.length - 1, this.cars.arcLength[car]);
    if (this.timer.ticks === 0) this.beginLap(); // also after a lap that did not count
  }

  lapped(car: number, { ticks, isClean }: Lap): void {
    if (car !== this.car) return;
    if (!isClean || (this.best !== null && ticks >= this.best.path.ticks)) return;
    const drive = this.recorder.drive(stateOf(this.cars, car));
    const path = new LapPath(ticks, this.done.poses, this.done.progress);
    this.best = { recording: { driver: "you", drive }, path };
    if (this.ghost === null || ticks < this.ghost.path.ticks) this.ghost = ghostOf(this.best);
    this.onBest(this.best);
  }

  placed(car: number, start: StartState): void {
    if (car !== this.car) return;
    this.recorder.begin(start);
    this.beginLap();
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

  private beginLap(): void {
    this.done = { poses: this.poses, progress: this.progress };
    this.poses = [poseOf(this.cars, this.car)];
    this.progress = this.begun();
  }

  private begun(): Progress {
    return new Progress(this.session.loaded.track.geometry.totalLength, this.cars.arcLength[this.car]);
  }
}

function ghostOf({ path }: RecordedLap, label = OWN): Ghost {
  return { label, isOwn: label === OWN, path };
}
