/** Reads NumPy's .npz archives: zip files of .npy arrays, as `numpy.savez` and `savez_compressed` write them. */

import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

/** An array of numbers in row-major order, or of strings. */
export interface NpyArray {
  readonly shape: readonly number[];
  readonly numbers: Float64Array;
  readonly strings: readonly string[];
}

const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_SIZE = 22; // bytes, without a comment
const LOCAL_HEADER_SIZE = 30; // bytes, without name and extra field
const DIRECTORY_ENTRY_SIZE = 46; // bytes, without name, extra field and comment
const DEFLATED = 8;
const CODE_POINT_SIZE = 4; // bytes of a character in a NumPy string

/** Read all arrays of an archive by name. */
export function readNpz(path: string): Map<string, NpyArray> {
  const zip = readFileSync(path);
  const end = zip.length - END_OF_DIRECTORY_SIZE;
  if (zip.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error(`${path} is no zip archive without a comment`);
  const arrays = new Map<string, NpyArray>();
  let entry = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const nameEnd = entry + DIRECTORY_ENTRY_SIZE + zip.readUInt16LE(entry + 28);
    const name = zip.toString("utf8", entry + DIRECTORY_ENTRY_SIZE, nameEnd);
    arrays.set(name.replace(/\.npy$/, ""), parseNpy(memberBytes(zip, entry)));
    entry = nameEnd + zip.readUInt16LE(entry + 30) + zip.readUInt16LE(entry + 32);
  }
  return arrays;
}

/** The content of the member that a directory entry describes. */
function memberBytes(zip: Buffer, entry: number): Buffer {
  const local = zip.readUInt32LE(entry + 42);
  const begin = local + LOCAL_HEADER_SIZE + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const bytes = zip.subarray(begin, begin + zip.readUInt32LE(entry + 20));
  return zip.readUInt16LE(entry + 10) === DEFLATED ? inflateRawSync(bytes) : bytes;
}

function parseNpy(bytes: Buffer): NpyArray {
  const isLong = bytes[6] > 1; // from version 2 on the header's length takes four bytes
  const headerBegin = isLong ? 12 : 10;
  const headerEnd = headerBegin + (isLong ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString("latin1", headerBegin, headerEnd);
  const type = /'descr': '([^']*)'/.exec(header)?.[1] ?? "";
  const isColumnMajor = header.includes("'fortran_order': True");
  const shape = [...(/'shape': \(([^)]*)\)/.exec(header)?.[1] ?? "").matchAll(/\d+/g)].map(Number);
  const size = shape.reduce((product, extent) => product * extent, 1);
  const data = bytes.subarray(headerEnd);
  if (type === "<f8") return { shape, numbers: readNumbers(data, shape, size, isColumnMajor), strings: [] };
  if (type.startsWith("<U")) return { shape, numbers: new Float64Array(), strings: readStrings(data, size, type) };
  throw new Error(`arrays of type ${type} are not supported`);
}

function readNumbers(data: Buffer, shape: readonly number[], size: number, isColumnMajor: boolean): Float64Array {
  const [rows, columns] = isColumnMajor && shape.length === 2 ? shape : [size, 1];
  return Float64Array.from({ length: size }, (_, i) => {
    const row = Math.floor(i / columns);
    return data.readDoubleLE(8 * ((i % columns) * rows + row));
  });
}

function readStrings(data: Buffer, size: number, type: string): string[] {
  const length = Number(type.slice(2));
  return Array.from({ length: size }, (_, i) => {
    const codes = Array.from({ length }, (_, k) => data.readUInt32LE(CODE_POINT_SIZE * (i * length + k)));
    return String.fromCodePoint(...codes.filter((code) => code !== 0));
  });
}
