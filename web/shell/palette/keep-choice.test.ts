import { expect, test } from "vitest";
import { type Choice, keepChoice, moveChoice } from "./keep-choice.ts";

const listed = (...ids: readonly string[]) => ids.map((id) => ({ id, isEarlier: false }));
const earlier = (...ids: readonly string[]) => ids.map((id) => ({ id, isEarlier: true }));
const chosen = (id: string): Choice => ({ kind: "entry", id });

test("after typing, the first entry for the present text is chosen", () => {
  expect(keepChoice({ kind: "first" }, listed("a", "b"))).toEqual(chosen("a"));
  expect(keepChoice({ kind: "first" }, [...earlier("a"), ...listed("b")])).toEqual(chosen("b"));
});

test("an entry that was found for an earlier text is not chosen automatically", () => {
  expect(keepChoice({ kind: "first" }, earlier("a", "b"))).toEqual({ kind: "first" });
});

test("results that arrive above or below the chosen entry do not change the choice", () => {
  expect(keepChoice(chosen("b"), listed("new", "a", "b", "c"))).toEqual(chosen("b"));
});

test("when the chosen entry is no longer listed, no other entry is chosen in its place", () => {
  const choice = keepChoice(chosen("b"), listed("a", "c"));

  expect(choice).toEqual({ kind: "none" });
  expect(keepChoice(choice, listed("a", "b", "c"))).toEqual({ kind: "none" });
});

test.each([
  { from: chosen("a"), by: 1, to: chosen("b") },
  { from: chosen("c"), by: 1, to: chosen("a") },
  { from: chosen("a"), by: -1, to: chosen("c") },
  { from: { kind: "none" }, by: 1, to: chosen("a") },
  { from: { kind: "first" }, by: -1, to: chosen("c") },
] as const)("from $from, $by moves the choice to $to", ({ from, by, to }) => {
  expect(moveChoice(from, listed("a", "b", "c"), by)).toEqual(to);
});

test("an empty list has nothing to choose", () => {
  expect(moveChoice({ kind: "first" }, [], 1)).toEqual({ kind: "first" });
});
