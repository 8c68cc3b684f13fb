import { expect, test } from "vitest";
import { localWorkers } from "./local-workers.ts";

const memoryBytes = 32 * 1024 ** 3;

test.each([
  { cores: 1, count: undefined, expected: [1] },
  { cores: 2, count: undefined, expected: [1, 2] },
  { cores: 64, count: undefined, expected: [1, 2] },
  { cores: 64, count: 4, expected: [1, 2, 1, 1] },
  { cores: 4, count: 0, expected: [] },
])("$cores cores, asked for $count: size classes $expected", ({ cores, count, expected }) => {
  const workers = localWorkers({ hostname: "h", cores, memoryBytes }, count);

  expect(workers.map((worker) => worker.sizeClass)).toEqual(expected);
});

test("workers are named after the machine, without its domain", () => {
  expect(
    localWorkers({ hostname: "big_box.example.org", cores: 2, memoryBytes }).map((w) => w.name),
  ).toEqual(["big-box-1", "big-box-2"]);
});

test.each([
  { cores: 1, expected: [1] },
  { cores: 2, expected: [1, 1] },
  { cores: 8, expected: [4, 2] },
])("$cores cores make $expected slots", ({ cores, expected }) => {
  expect(localWorkers({ hostname: "h", cores, memoryBytes }).map((worker) => worker.slots)).toEqual(
    expected,
  );
});

test.each([
  { cores: 1, count: undefined, expected: ["all"] },
  { cores: 8, count: 1, expected: ["all"] },
  { cores: 8, count: 3, expected: [1, "all", 1] },
])("$count workers of $cores cores give $expected cores", ({ cores, count, expected }) => {
  const workers = localWorkers({ hostname: "h", cores, memoryBytes }, count);

  expect(workers.map((worker) => worker.cpus)).toEqual(expected);
  expect(workers.map((worker) => worker.memoryBytes)).toEqual(
    expected.map((each) => (each === "all" ? "all" : memoryBytes / cores)),
  );
});
