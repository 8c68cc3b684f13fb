import { expect, test } from "vitest";
import type { CollectorState } from "#api/collector.ts";
import { type CollectorStanding, collectorState } from "./collector-state.ts";

const now = new Date("2026-06-01T00:10:00Z");
const ago = (ms: number) => new Date(now.getTime() - ms);
const waiting: CollectorStanding = {
  active: true,
  outOfDuty: null,
  lastHeartbeatAt: ago(59_999),
  hasJob: false,
};

test.each<[Partial<CollectorStanding>, CollectorState]>([
  [{}, "waiting"],
  [{ hasJob: true }, "measuring"],
  [{ hasJob: true, lastHeartbeatAt: ago(60_000) }, "offline"],
  [{ lastHeartbeatAt: ago(60_000) }, "offline"],
  [{ lastHeartbeatAt: null }, "never-seen"],
  [{ outOfDuty: "noisy" }, "out-of-duty"],
  [{ outOfDuty: "noisy", lastHeartbeatAt: ago(60_000) }, "offline"],
  [{ active: false }, "inactive"],
  [{ active: false, lastHeartbeatAt: null }, "inactive"],
  // It was deactivated during a job, which it ends.
  [{ active: false, hasJob: true }, "measuring"],
])("a collector with %j is %s", (changes, state) => {
  expect(collectorState({ ...waiting, ...changes }, now, 60_000)).toBe(state);
});
