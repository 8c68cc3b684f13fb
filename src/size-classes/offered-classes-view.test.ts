import { expect, test } from "vitest";
import type { QueuedWork } from "#execution/sizing/size-class-offers.store.ts";
import { offeredClassesView, type SizeClassFacts, unforeseenMs } from "./offered-classes-view.ts";
import { aDeclaredClass, areUp, linux } from "./size-classes.fixture.ts";

const startDelayMs = 60_000;
const offered = (facts: Partial<SizeClassFacts>, requirements = linux) =>
  offeredClassesView({ up: [], declared: [], queued: [], ...facts }, startDelayMs)(requirements);

const queued = (changes: Partial<QueuedWork> = {}): QueuedWork => ({
  requirements: linux,
  sizeClass: 1,
  executions: 1,
  foreseen: 0,
  foreseenMs: 0,
  ...changes,
});

test("without facts, nothing is offered", () => {
  expect(offered({})).toEqual([]);
});

test("classes come from workers and from declarations, the smallest first", () => {
  const facts = {
    up: [areUp({ sizeClass: 4 }), areUp({ sizeClass: 1 })],
    declared: [aDeclaredClass({ sizeClass: 2 })],
  };

  expect(offered(facts)).toEqual([
    { sizeClass: 1, cpus: 1, memoryBytes: Infinity, price: 1, waitMs: 0 },
    { sizeClass: 2, cpus: 2, memoryBytes: Infinity, price: 2, waitMs: startDelayMs },
    { sizeClass: 4, cpus: 4, memoryBytes: Infinity, price: 4, waitMs: 0 },
  ]);
});

test.each([
  { name: "another platform", declared: { platform: { OSFamily: "macos" } } },
  { name: "fewer properties than asked for", declared: { platform: {} } },
  { name: "workers that may not be started", declared: { mostWorkers: 0 } },
])("a declared class of $name is not offered", ({ declared }) => {
  expect(offered({ declared: [aDeclaredClass(declared)] })).toEqual([]);
});

test("classes above the requested largest class are not offered", () => {
  const up = [1, 2, 4].map((sizeClass) => areUp({ sizeClass }));

  const found = offered({ up }, { ...linux, "max-size-class": "2" });

  expect(found.map(({ sizeClass }) => sizeClass)).toEqual([1, 2]);
});

test("a class has the resources of its smallest worker, and the declared ones when workers do not state them", () => {
  const declared = [aDeclaredClass({ sizeClass: 2, cpus: 3, memoryBytes: 8e9, price: 5 })];
  const up = [
    areUp({ sizeClass: 2, cpus: 2.5, memoryBytes: 4e9 }),
    areUp({ sizeClass: 2, platform: { ...linux, gpu: "yes" }, memoryBytes: 6e9 }),
  ];

  expect(offered({ declared })[0]).toMatchObject({ cpus: 3, memoryBytes: 8e9, price: 5 });
  expect(offered({ declared, up })[0]).toMatchObject({ cpus: 2.5, memoryBytes: 4e9, price: 5 });
});

test("a class that is declared as free does not make others free", () => {
  const declared = [aDeclaredClass({ sizeClass: 4, price: 0 })];
  const up = [areUp({ sizeClass: 1 }), areUp({ sizeClass: 2 })];

  expect(offered({ declared, up }).map(({ price }) => price)).toEqual([1, 2, 0]);
});

test("the price of an undeclared class is that of its CPUs in the nearest declared class", () => {
  const declared = [
    aDeclaredClass({ sizeClass: 2, cpus: 2, price: 1 }),
    aDeclaredClass({ sizeClass: 16, cpus: 16, price: 80 }),
  ];
  const up = [areUp({ sizeClass: 4 }), areUp({ sizeClass: 15 })];

  expect(offered({ declared, up }).map(({ price }) => price)).toEqual([1, 2, 75, 80]);
});

test.each([
  { name: "a slot is free", up: { slots: 2, busySlots: 1 }, waiting: [], waitMs: 0 },
  {
    name: "what waits takes the free ones",
    up: { slots: 2, busySlots: 1, remainingMs: 4_000 },
    waiting: [queued({ executions: 3, foreseen: 3, foreseenMs: 6_000 })],
    waitMs: 5_000,
  },
  {
    name: "waiting executions without estimates",
    up: { busySlots: 1 },
    waiting: [queued({ executions: 2 })],
    waitMs: 2 * unforeseenMs,
  },
  {
    name: "some was foreseen, and the rest is thought to be like it",
    up: { busySlots: 1 },
    waiting: [queued({ executions: 4, foreseen: 2, foreseenMs: 600 })],
    waitMs: 1_200,
  },
  {
    name: "what waits asks for another platform",
    up: { busySlots: 1, remainingMs: 1_000 },
    waiting: [queued({ requirements: { OSFamily: "macos" } })],
    waitMs: 1_000,
  },
])("the wait where $name is $waitMs ms", ({ up, waiting, waitMs }) => {
  expect(offered({ up: [areUp(up)], queued: waiting })[0]?.waitMs).toBe(waitMs);
});

test("larger classes reduce the wait of smaller ones; executions that only they can run affect only them", () => {
  const up = [
    areUp({ busySlots: 1, remainingMs: 1_000 }),
    areUp({ sizeClass: 2, busySlots: 1, remainingMs: 3_000 }),
  ];
  const waiting = [queued({ executions: 2, foreseen: 2, foreseenMs: 8_000, sizeClass: 2 })];

  expect(offered({ up, queued: waiting }).map(({ waitMs }) => waitMs)).toEqual([6_000, 11_000]);
});

test("executions that wait for a class to be started share as many workers as are allowed", () => {
  const waiting = [queued({ executions: 10, foreseen: 10, foreseenMs: 100_000 })];

  const waits = [null, 5, 1].map(
    (mostWorkers) =>
      offered({ declared: [aDeclaredClass({ mostWorkers })], queued: waiting })[0]?.waitMs,
  );

  expect(waits).toEqual([10_000, 20_000, 100_000].map((ms) => startDelayMs + ms));
});
