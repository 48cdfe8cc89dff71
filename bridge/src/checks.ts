/** Checks values that came from outside and words the errors. */

/** Something that came from outside is wrong; the message is one line for people. */
export class InputError extends Error {}

const MAX_INTEGER = 2 ** 31 - 1;
const MAX_SHOWN = 60;

/** Checks the values of one document; `where` is its name, put in front of every message. */
export class Checker {
  constructor(private readonly where: string) {}

  /** Make the error for a message; the caller throws it. */
  fail(message: string): InputError {
    return new InputError(this.where === "" ? message : `${this.where}: ${message}`);
  }

  /** Return a value as an object whose keys are all allowed and complete. */
  object(
    value: unknown,
    key: string,
    allowed: readonly string[],
    required: readonly string[] = [],
  ): Record<string, unknown> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.fail(`${key} must be an object, got ${shown(value)}`);
    }
    for (const name of Object.keys(value)) {
      if (!allowed.includes(name)) {
        throw this.fail(`unknown key ${shown(name)} in ${key}; allowed: ${allowed.join(", ")}`);
      }
    }
    for (const name of required) {
      if (!Object.hasOwn(value, name)) throw this.fail(`${key} lacks the key "${name}"`);
    }
    return value as Record<string, unknown>;
  }

  /** Return a value as a list, of a given length if one is given. */
  list(value: unknown, key: string, length?: number): unknown[] {
    if (!Array.isArray(value)) throw this.fail(`${key} must be a list, got ${shown(value)}`);
    if (length !== undefined && value.length !== length) {
      throw this.fail(`${key} must have ${length} entries, got ${value.length}`);
    }
    return value;
  }

  /** Return a value as a finite number within [low, high]. */
  number(value: unknown, key: string, low = -Infinity, high = Infinity): number {
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw this.fail(`${key} must be a finite number, got ${shown(value)}`);
    }
    if (value < low || value > high) {
      throw this.fail(`${key} must be within [${low}, ${high}], got ${shown(value)}`);
    }
    return value;
  }

  /** Return a value as a whole number from `atLeast` to `atMost`. */
  integer(value: unknown, key: string, atLeast: number, atMost: number = MAX_INTEGER): number {
    const number = this.number(value, key);
    if (!Number.isInteger(number)) throw this.fail(`${key} must be a whole number, got ${shown(value)}`);
    if (number < atLeast || number > atMost) {
      throw this.fail(`${key} must be from ${atLeast} to ${atMost}, got ${shown(value)}`);
    }
    return number;
  }

  /** Return a value as a string that is not empty. */
  text(value: unknown, key: string): string {
    if (typeof value !== "string" || value === "") {
      throw this.fail(`${key} must be a non-empty string, got ${shown(value)}`);
    }
    return value;
  }
}

/** What a terminal obeys instead of showing it, as far as JSON leaves it in a string. */
const CONTROLS = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A value as JSON, cut short. */
export function shown(value: unknown): string {
  const text = (typeof value === "number" ? String(value) : jsonOf(value)).replaceAll(CONTROLS, escaped);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 3)}...`;
}

function escaped(text: string): string {
  return Array.from(text, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join("");
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "something nested too deeply"; // thousands of brackets within each other, which JSON.parse can read
  }
}
