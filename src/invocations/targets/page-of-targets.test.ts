import { expect, test } from "vitest";
import type { TargetState } from "#api/invocation-targets.ts";
import { pageOfTargets } from "./page-of-targets.ts";

const a = (label: string, state: TargetState, aspect = "") => ({
  label,
  state,
  aspect,
  kind: "cc_library",
});
const targets = [
  a("//b", "succeeded"),
  a("//c", "failed"),
  a("//a", "succeeded", "%lint"),
  a("//a", "succeeded"),
  a("//d", "flaky"),
];
const all = { state: undefined, text: undefined, after: undefined, limit: 10 };

test("pages go through all targets, the worst first", () => {
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const { count, page, next } = pageOfTargets(targets, { ...all, after, limit: 2 });
    expect(count).toBe(5);
    seen.push(...page.map(({ label, aspect }) => label + aspect));
    after = next ?? undefined;
  } while (after !== undefined);

  expect(seen).toEqual(["//c", "//d", "//a", "//a%lint", "//b"]);
});

test("a filter takes a state, and a part of the label, the aspect or the kind", () => {
  const labels = (wanted: object) =>
    pageOfTargets(targets, { ...all, ...wanted }).page.map(({ label }) => label);

  expect(labels({ state: "flaky" })).toEqual(["//d"]);
  expect(labels({ text: "LINT" })).toEqual(["//a"]);
  expect(labels({ text: "cc_" })).toHaveLength(5);
});

test.each(["nonsense", "", Buffer.from("[1,2]").toString("base64url")])(
  "a place in the list that no list gave is refused: %j",
  (after) => {
    expect(() => pageOfTargets(targets, { ...all, after })).toThrow("`after` must be the `next`");
  },
);
