import { expect, test } from "vitest";
import type { EndedIn } from "./failures.store.ts";
import { sinceWhen } from "./since-when.ts";

/** Ends on a branch, the newest first: `+` succeeded, `-` failed, `.` did not end. */
const ends = (text: string): EndedIn[] =>
  text.split("").flatMap((sign, age) =>
    sign === "."
      ? []
      : [
          {
            state: sign === "+" ? ("succeeded" as const) : ("failed" as const),
            age,
            id: `g${age}`,
            commit: `c${age}`,
            subject: "s",
            at: "2026-01-01T00:00:00.000Z",
          },
        ],
  );

test.each([
  { text: "-", passed: undefined, failed: "g0", between: 0 },
  { text: "-+", passed: "g1", failed: "g0", between: 0 },
  { text: "--+-", passed: "g2", failed: "g1", between: 0 },
  { text: "--..+", passed: "g4", failed: "g1", between: 2 },
  { text: "-.-", passed: undefined, failed: "g2", between: 0 },
])(
  "of $text, $passed passed last and $failed failed first",
  ({ text, passed, failed, between }) => {
    const since = sinceWhen(ends(text));

    expect(since?.lastPassed?.id).toBe(passed);
    expect(since?.firstFailed.id).toBe(failed);
    expect(since?.graphsBetween).toBe(between);
  },
);

test("a job that succeeded, or never ended, does not fail since anything", () => {
  expect(sinceWhen(ends("+-"))).toBeUndefined();
  expect(sinceWhen([])).toBeUndefined();
});
