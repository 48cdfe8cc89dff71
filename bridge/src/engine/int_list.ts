/** A list of whole numbers that grows, for tables of millions of entries, for which arrays take too much memory. */

const FIRST_CAPACITY = 1024;

/** 32-bit integers, added one by one. */
export class IntList {
  /** How many there are. */
  length = 0;
  private items = new Int32Array(FIRST_CAPACITY);

  /** Add a number at the end. */
  push(item: number): void {
    if (this.length === this.items.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this.items);
      this.items = larger;
    }
    this.items[this.length++] = item;
  }

  /** A copy of the numbers. */
  toArray(): Int32Array {
    return this.items.slice(0, this.length);
  }
}
