import { spoilBlobs } from "../../../test/faults/spoil-blobs.ts";
import { exactly, type Measurement, type Row } from "../row.ts";
import { firstOf } from "./first-violation.ts";

export const spoiledBlobs: Measurement = {
  title: "corrupt, truncated, swapped and missing blobs",
  long: false,
  measure: () => measure(100),
};

export const manySpoiledBlobs: Measurement = {
  title: "corrupt, truncated, swapped and missing blobs, 1,000",
  long: true,
  measure: () => measure(1_000),
};

async function measure(blobs: number): Promise<Row[]> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { violations, notGreen } = await spoilBlobs({ blobs, seed });
  const how =
    `${blobs} blobs of a farm, a quarter each corrupt, truncated, missing, or with the bytes of another one, seed ${seed}; ` +
    `each read by its hash, and every log and output of every graph; then each commit submitted again${firstOf(violations)}`;
  return [
    exactly(`wrong bytes served of ${blobs} spoiled blobs`, violations.length, 0, "", how),
    exactly(
      `graphs that did not end green with ${blobs} spoiled blobs`,
      notGreen.length,
      0,
      "",
      how,
    ),
  ];
}
