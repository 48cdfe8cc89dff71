import assert from "node:assert/strict";
import { test } from "node:test";
import { Grid, gatherRanges } from "../src/engine/grid.js";
import { IntList } from "../src/engine/int_list.js";

const BOUNDS = { lowX: 0, lowY: 0, highX: 20, highY: 8 };

test("cells are numbered row by row, and everything outside is one cell", () => {
  const grid = new Grid(BOUNDS, 0, 4);
  assert.equal(grid.cellAt(0, 0), 0);
  assert.equal(grid.cellAt(5, 0), 1);
  assert.equal(grid.cellAt(0, 4), grid.columns);
  for (const [x, y] of [
    [-0.1, 0],
    [0, -0.1],
    [1e9, 0],
    [0, 1e9],
    [Number.NaN, 0],
  ]) {
    assert.equal(grid.cellAt(x, y), grid.outside, `(${x}, ${y})`);
  }
});

test("a grid of absurd extent has larger cells instead of too many", () => {
  const grid = new Grid({ ...BOUNDS, highX: 1e8 }, 0, 4);
  assert.ok(grid.cellCount < 2_000_000);
  assert.notEqual(grid.cellAt(1e8, 8), grid.outside);
});

test("neighbouring numbers of a cell become ranges, which do not reach from one cell into the next", () => {
  const cells = new IntList();
  const numbers = new IntList();
  for (const [cell, number] of [
    [0, 1],
    [2, 6],
    [0, 2],
    [0, 5],
    [2, 7],
    [3, 8],
  ]) {
    cells.push(cell);
    numbers.push(number);
  }
  const { begins, bounds } = gatherRanges(4, cells, numbers);
  assert.deepEqual([...begins], [0, 4, 4, 6, 8]);
  assert.deepEqual([...bounds], [1, 3, 5, 6, 6, 8, 8, 9]);
});
