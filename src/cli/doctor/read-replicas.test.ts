import { expect, test } from "vitest";
import { judgeReplicas } from "./read-replicas.ts";

const current = {
  place: "two:5432",
  standing: { kind: "replaying", checkedAtMs: 2_000, hasAllUntilMs: 1_900, lagBytes: 0 },
} as const;

test("replicas that replay the log are well", () => {
  expect(judgeReplicas([current])).toEqual({ status: "ok", detail: "two:5432 is 0 B behind" });
});

test("one that does not answer, or stays behind, is named with its problem", () => {
  const gone = {
    place: "three:5432",
    standing: { kind: "unusable", problem: "does not answer" },
  } as const;
  const late = {
    place: "four:5432",
    standing: { ...current.standing, hasAllUntilMs: undefined, lagBytes: 3 * 1024 ** 2 },
  } as const;

  expect(judgeReplicas([current, gone, late])).toMatchObject({
    status: "warn",
    detail: "two:5432 is 0 B behind; three:5432: does not answer; four:5432 is 3 MiB behind",
  });
});
