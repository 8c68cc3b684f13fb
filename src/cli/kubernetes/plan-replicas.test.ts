import { expect, test } from "vitest";
import type { ScaledClass } from "#api/autoscaling.ts";
import { planReplicas, type WorkerDeployment } from "./plan-replicas.ts";

const linux = { OSFamily: "linux", ISA: "x86-64" };

function scaled(changes: Partial<ScaledClass>): ScaledClass {
  return {
    platform: linux,
    sizeClass: 1,
    isDeclared: true,
    leastWorkers: 0,
    mostWorkers: null,
    desired: 0,
    now: 0,
    draining: 0,
    slots: 0,
    busySlots: 0,
    queued: 0,
    reason: "nothing waits",
    drain: [],
    ...changes,
  };
}

function deployment(changes: Partial<WorkerDeployment>): WorkerDeployment {
  return { name: "small", platform: linux, sizeClass: 1, replicas: 2, pods: [], ...changes };
}

test("a Deployment gets as many pods as its size class needs", () => {
  const { changes } = planReplicas([deployment({})], [scaled({ desired: 5, reason: "5 wait" })]);

  expect(changes).toEqual([
    {
      deployment: "small",
      replicas: { from: 2, to: 5 },
      surplus: [],
      noSurplus: [],
      reason: "5 wait",
    },
  ]);
});

test("nothing changes when the number is right and no mark is missing", () => {
  const pods = [{ name: "small-a", isSurplus: true }];

  const plan = planReplicas([deployment({ pods })], [scaled({ desired: 2, drain: ["small-a"] })]);

  expect(plan).toEqual({ changes: [], remarks: [] });
});

test("pods that the farm does not need are marked, and marks of others are removed", () => {
  const pods = [
    { name: "small-a", isSurplus: true },
    { name: "small-b", isSurplus: false },
    { name: "small-c", isSurplus: false },
  ];

  const plan = planReplicas([deployment({ pods })], [scaled({ desired: 1, drain: ["small-b"] })]);

  expect(plan.changes).toMatchObject([{ surplus: ["small-b"], noSurplus: ["small-a"] }]);
});

test.each([
  { what: "the farm knows no such class", classes: [scaled({ sizeClass: 7 })], why: /declare it/ },
  {
    what: "several classes match",
    classes: ["a", "b"].map((pool) => scaled({ platform: { ...linux, pool } })),
    why: /2 size classes of the farm match/,
  },
])("a Deployment stays as it is when $what", ({ classes, why }) => {
  const { changes, remarks } = planReplicas([deployment({})], classes);

  expect(changes).toEqual([]);
  expect(remarks).toEqual([expect.stringMatching(why)]);
});

test("a class with exactly the platform is preferred to one with more properties", () => {
  const classes = [
    scaled({ platform: { ...linux, gpu: "yes" }, desired: 9 }),
    scaled({ desired: 3 }),
  ];

  const { changes } = planReplicas([deployment({})], classes);

  expect(changes).toMatchObject([{ replicas: { from: 2, to: 3 } }]);
});

test("two Deployments of one class are left as they are", () => {
  const both = [deployment({}), deployment({ name: "twin" })];

  const { changes, remarks } = planReplicas(both, [scaled({ desired: 3 })]);

  expect(changes).toEqual([]);
  expect(remarks).toHaveLength(2);
});
