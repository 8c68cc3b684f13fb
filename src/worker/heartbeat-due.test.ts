import { expect, test } from "vitest";
import { isHeartbeatDue } from "./heartbeat-due.ts";

const idle = { leaseCount: 0, isDraining: false, trouble: "", images: [] };

test("a worker without leases skips every second heartbeat", () => {
  expect(
    isHeartbeatDue(idle, {
      wasDraining: false,
      trouble: "",
      images: [],
      namedLost: false,
      intervalsAgo: 1,
    }),
  ).toBe(false);
  expect(
    isHeartbeatDue(idle, {
      wasDraining: false,
      trouble: "",
      images: [],
      namedLost: false,
      intervalsAgo: 2,
    }),
  ).toBe(true);
});

test("a worker with leases skips none", () => {
  const busy = { leaseCount: 1, isDraining: false, trouble: "", images: [] };
  expect(
    isHeartbeatDue(busy, {
      wasDraining: false,
      trouble: "",
      images: [],
      namedLost: false,
      intervalsAgo: 1,
    }),
  ).toBe(true);
});

test("a heartbeat that failed is repeated after one interval", () => {
  expect(isHeartbeatDue(idle, undefined)).toBe(true);
});

test("after one interval, the farm knows that a worker drains", () => {
  const draining = { leaseCount: 0, isDraining: true, trouble: "", images: [] };
  expect(
    isHeartbeatDue(draining, {
      wasDraining: false,
      trouble: "",
      images: [],
      namedLost: false,
      intervalsAgo: 1,
    }),
  ).toBe(true);
  expect(
    isHeartbeatDue(draining, {
      wasDraining: true,
      trouble: "",
      images: [],
      namedLost: false,
      intervalsAgo: 1,
    }),
  ).toBe(false);
});

test("after one interval, the farm knows that a worker has ended its lost executions", () => {
  expect(
    isHeartbeatDue(idle, {
      wasDraining: false,
      trouble: "",
      images: [],
      namedLost: true,
      intervalsAgo: 1,
    }),
  ).toBe(true);
});

test("after one interval, the farm knows that a worker's disk is full, or has space again", () => {
  const last = { wasDraining: false, trouble: "", images: [], namedLost: false, intervalsAgo: 1 };
  const inTrouble = { ...idle, trouble: "ENOSPC" };
  expect(isHeartbeatDue(inTrouble, last)).toBe(true);
  expect(isHeartbeatDue(inTrouble, { ...last, trouble: "ENOSPC" })).toBe(false);
  expect(isHeartbeatDue(idle, { ...last, trouble: "ENOSPC" })).toBe(true);
});
