/** Drivers as ONNX files, computed by onnxruntime-web: WebAssembly, one thread. */

import binaryUrl from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import * as ort from "onnxruntime-web/wasm";
import { InputError } from "../../../bridge/src/checks.js";
import { ACTION_SIZE, OBSERVATION_SIZE } from "../../../bridge/src/engine/contract.js";
import { checkAnswer, type Driver } from "./driver.js";

ort.env.wasm.numThreads = 1; // more need headers that few web servers send, and gain nothing for networks this small
ort.env.wasm.wasmPaths = { wasm: new URL(binaryUrl, import.meta.url).href };
ort.env.logLevel = "error";

/** The run before, of any driver: onnxruntime-web leaks its stack, and dies of that, where one begins within another. */
let lastRun: Promise<void> = Promise.resolve();

/** A driver that takes raw observations in single precision. */
export class OnnxDriver implements Driver {
  private readonly numbers = new Float32Array(OBSERVATION_SIZE);
  private readonly feeds: Record<string, ort.Tensor>;
  private readonly output: string;

  private constructor(
    private readonly session: ort.InferenceSession,
    private readonly label: string,
  ) {
    this.feeds = { [session.inputNames[0]]: new ort.Tensor("float32", this.numbers, [1, OBSERVATION_SIZE]) };
    this.output = session.outputNames.includes("actions") ? "actions" : session.outputNames[0];
  }

  /**
   * Load a driver and ask it once.
   *
   * @param label Its name in messages.
   * @throws InputError The bytes are no ONNX file, or not one of 14 numbers in and 3 out.
   */
  static async load(bytes: Uint8Array, label: string): Promise<OnnxDriver> {
    let session: ort.InferenceSession;
    try {
      session = await ort.InferenceSession.create(bytes, { executionProviders: ["wasm"] });
    } catch (error) {
      if (short(error).includes("no available backend")) {
        throw new InputError(
          "What computes drivers, a WebAssembly file in assets/, is missing, damaged or refused. Reload the page to try again.",
        );
      }
      throw new InputError(`The driver "${label}" cannot be loaded: its file is damaged or no ONNX file.`);
    }
    const driver = new OnnxDriver(session, label);
    await driver.decide(new Float64Array(OBSERVATION_SIZE), new Float64Array(ACTION_SIZE));
    return driver;
  }

  decide(observation: Float64Array, action: Float64Array): Promise<void> {
    const turn = lastRun.then(() => this.run(observation, action));
    lastRun = turn.catch(() => {});
    return turn;
  }

  private async run(observation: Float64Array, action: Float64Array): Promise<void> {
    this.numbers.set(observation);
    let results: ort.InferenceSession.OnnxValueMapType;
    try {
      results = await this.session.run(this.feeds);
    } catch (error) {
      throw new InputError(`The driver "${this.label}" cannot be asked for an action (${short(error)}).`);
    }
    const values = results[this.output].data as Float32Array;
    checkAnswer(values, this.label);
    action.set(values);
  }
}

function short(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ").trim();
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}
