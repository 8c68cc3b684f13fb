import { expect, test } from "vitest";
import { timeLine } from "./time-line.ts";

const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1_000).toISOString();
const now = Date.parse(at(100));
const none = { leasedAt: null, startedAt: null, finishedAt: null, image: null };

test.each([
  {
    what: "waits",
    times: { ...none, queuedAt: at(0) },
    spans: [{ name: "queued", ms: 100_000, isOpen: true }],
  },
  {
    what: "gets its inputs",
    times: { ...none, queuedAt: at(0), leasedAt: at(10) },
    spans: [
      { name: "queued", ms: 10_000, isOpen: false },
      { name: "starting", ms: 90_000, isOpen: true },
    ],
  },
  {
    what: "is over",
    times: { ...none, queuedAt: at(0), leasedAt: at(10), startedAt: at(15), finishedAt: at(40) },
    spans: [
      { name: "queued", ms: 10_000, isOpen: false },
      { name: "starting", ms: 5_000, isOpen: false },
      { name: "executing", ms: 25_000, isOpen: false },
    ],
  },
  {
    what: "waited for its image",
    times: {
      queuedAt: at(0),
      leasedAt: at(10),
      startedAt: at(15),
      finishedAt: at(40),
      image: { digest: "sha256:a", pulledMs: 4_000 },
    },
    spans: [
      { name: "queued", ms: 10_000, isOpen: false },
      { name: "pulling", ms: 4_000, isOpen: false },
      { name: "starting", ms: 1_000, isOpen: false },
      { name: "executing", ms: 25_000, isOpen: false },
    ],
  },
  {
    what: "was cancelled before anybody had it",
    times: { ...none, queuedAt: at(0), finishedAt: at(3) },
    spans: [{ name: "queued", ms: 3_000, isOpen: false }],
  },
])("the time line of one that $what", ({ times, spans }) => {
  expect(timeLine(times, now)).toEqual(spans);
});
