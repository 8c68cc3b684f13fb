import { expect, test } from "vitest";
import { startLines } from "./start-lines.ts";

test.each([
  { workers: 1, last: "Starting 1 worker; the farm was ready after 1.3 s" },
  { workers: 2, last: "Starting 2 workers; the farm was ready after 1.3 s" },
])("each step has a line with its seconds, with $workers of the workers", ({ workers, last }) => {
  expect(startLines({ database: 812, server: 430 }, workers, 1_250)).toEqual([
    "Starting the database … 0.8 s",
    "Starting the server … 0.4 s",
    last,
  ]);
});
