import { expect, test } from "vitest";
import type { QuarantinedResult } from "#api/granary.ts";
import { quarantineLines } from "./quarantine-lines.ts";

const now = new Date("2026-11-22T10:05:00.000Z");
const at = "2026-11-22T10:00:00.000Z";
const doubted: QuarantinedResult = {
  project: "p",
  divergence: {
    namespace: "ccache",
    key: "k\u001b[2J",
    kept: "a/1",
    madeNow: "b/1",
    differs: ["out.o"],
    machine: "m1",
    build: null,
    at,
  },
  producer: "ci",
  foundAt: at,
  foundBy: "checker",
  releasedAt: null,
  releasedBy: null,
  givenTo: [{ build: "11111111-1111-4111-8111-111111111111", machine: "m2", commit: "", at }],
  madeFrom: 4,
  alsoInQuarantine: 4,
};

test("each is told with who wrote it, who was given it, and what became of that", () => {
  expect(quarantineLines({ results: [doubted] }, now)).toEqual([
    "ccache k",
    "    found 5 min 00 s ago by checker on m1; written by ci",
    "    differs: out.o",
    "    sent to 1 build, which made 4 results afterwards, of which 4 are also in quarantine",
  ]);
  const released = { ...doubted, producer: "", givenTo: [], releasedAt: at, releasedBy: "root" };
  expect(quarantineLines({ results: [released] }, now).slice(-2)).toEqual([
    "    sent to no known build",
    "    released 5 min 00 s ago by root",
  ]);
  expect(quarantineLines({ results: [] }, now)).toHaveLength(1);
});
