import { expect, test } from "vitest";
import { nextTimeOfDay } from "./next-time-of-day.ts";

test.each([
  {
    about: "later today",
    after: "2026-01-05T10:00:00Z",
    at: "19:00",
    zone: "UTC",
    next: "2026-01-05T19:00:00Z",
  },
  {
    about: "tomorrow, when it has gone by",
    after: "2026-01-05T19:00:00Z",
    at: "19:00",
    zone: "UTC",
    next: "2026-01-06T19:00:00Z",
  },
  {
    about: "where it is another day already",
    after: "2026-01-05T16:00:00Z",
    at: "00:30",
    zone: "Asia/Tokyo",
    next: "2026-01-06T15:30:00Z",
  },
  {
    about: "west of UTC",
    after: "2026-01-05T02:00:00Z",
    at: "19:00",
    zone: "America/Los_Angeles",
    next: "2026-01-05T03:00:00Z",
  },
  {
    about: "in summer time",
    after: "2026-07-05T10:00:00Z",
    at: "19:00",
    zone: "Europe/Berlin",
    next: "2026-07-05T17:00:00Z",
  },
  {
    about: "over the change to summer time",
    after: "2026-03-28T20:00:00Z",
    at: "19:00",
    zone: "Europe/Berlin",
    next: "2026-03-29T17:00:00Z",
  },
  {
    about: "at a time that the clocks skip",
    after: "2026-03-29T00:00:00Z",
    at: "02:30",
    zone: "Europe/Berlin",
    next: "2026-03-29T01:30:00Z",
  },
  {
    about: "at a time that the clocks show twice: the first",
    after: "2026-10-24T23:00:00Z",
    at: "02:30",
    zone: "Europe/Berlin",
    next: "2026-10-25T00:30:00Z",
  },
  {
    about: "between the two: the next day",
    after: "2026-10-25T00:45:00Z",
    at: "02:30",
    zone: "Europe/Berlin",
    next: "2026-10-26T01:30:00Z",
  },
  {
    about: "where offsets have half hours",
    after: "2026-01-05T00:00:00Z",
    at: "09:00",
    zone: "Asia/Kolkata",
    next: "2026-01-05T03:30:00Z",
  },
])("$about ($at in $zone)", ({ after, at, zone, next }) => {
  expect(nextTimeOfDay(new Date(after), at, zone)).toEqual(new Date(next));
});
