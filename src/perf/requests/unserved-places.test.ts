import { expect, test } from "vitest";
import { unservedPlaces } from "./unserved-places.ts";

const collector = {
  name: "lab-1",
  target: "linux-x64",
  set: null as number | null,
  mayTakeOver: [] as number[],
  active: true,
  outOfDuty: null as string | null,
};
const job = {
  id: "a",
  state: "queued" as const,
  target: "linux-x64",
  set: 0,
  optional: false,
};

test.each([
  { when: "one serves all sets", change: {}, places: 0 },
  { when: "one serves another set", change: { set: 1 }, places: 1 },
  { when: "one may take the set over", change: { set: 1, mayTakeOver: [0] }, places: 0 },
  { when: "one is inactive", change: { active: false }, places: 1 },
  { when: "one is of another target", change: { target: "linux-arm64" }, places: 1 },
])("where $when, $places places are unserved", ({ change, places }) => {
  expect(unservedPlaces([{ ...collector, ...change }], [job])).toHaveLength(places);
});

test("a place counts each job once and names the collectors that are out of duty", () => {
  const out = { ...collector, outOfDuty: "its self-test raised 9 alarms" };
  // One job of two requests appears twice in the list.
  const jobs = [job, job, { ...job, id: "b", optional: true }];

  expect(unservedPlaces([out], jobs)).toEqual([
    { target: "linux-x64", set: 0, jobs: 2, optional: false, outOfDuty: ["lab-1"] },
  ]);
});

test("jobs that a collector has are served", () => {
  expect(unservedPlaces([], [{ ...job, state: "in-progress" }])).toEqual([]);
});
