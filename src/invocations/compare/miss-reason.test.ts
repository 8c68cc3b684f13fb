import { expect, test } from "vitest";
import type { ActionDifferences } from "#api/action-comparison.ts";
import { missReason } from "./miss-reason.ts";

const none: ActionDifferences = {
  isSameAction: false,
  command: [],
  inputs: [],
  isCut: false,
  unreadable: null,
};
const flag = { part: "argument" as const, name: "2", before: "-O1", after: "-O2" };
const locale = { part: "environment" as const, name: "LANG", before: null, after: "C" };
const file = { path: "a.c", change: "changed" as const };

test.each([
  {
    differences: { ...none, isSameAction: true },
    outcome: "succeeded",
    reason: "not kept",
    sentence: /same action succeeded before/,
  },
  {
    differences: { ...none, isSameAction: true },
    outcome: "timed_out",
    reason: "failed before",
    sentence: /results of failures are not kept/,
  },
  {
    differences: { ...none, inputs: [file] },
    outcome: "succeeded",
    reason: "inputs",
    sentence: /^1 input file differs\.$/,
  },
  {
    differences: { ...none, command: [flag, locale] },
    outcome: "succeeded",
    reason: "command",
    sentence: /^Argument 2 and variable LANG differ\.$/,
  },
  {
    differences: { ...none, command: [flag], inputs: [file, file], isCut: true },
    outcome: "succeeded",
    reason: "inputs and command",
    sentence: /^2 or more input files differ, and argument 2 differs\.$/,
  },
  {
    differences: { ...none, isSameAction: true },
    outcome: "succeeded",
    doNotCache: true,
    reason: "not cacheable",
    sentence: /forbids caching/,
  },
  {
    differences: {
      ...none,
      command: [{ part: "setting" as const, name: "timeout", before: "1.00 s", after: null }],
    },
    outcome: "succeeded",
    reason: "command",
    sentence: /^The timeout differs\.$/,
  },
  {
    differences: { ...none, unreadable: "They are gone." },
    outcome: "succeeded",
    reason: "unknown",
    sentence: /^They are gone\.$/,
  },
])("the reason is $reason: $sentence", ({ differences, outcome, doNotCache, reason, sentence }) => {
  const found = missReason(differences, outcome, doNotCache);

  expect(found.reason).toBe(reason);
  expect(found.sentence).toMatch(sentence);
  expect(found.paths).toEqual(differences.inputs.map(({ path }) => path));
});
