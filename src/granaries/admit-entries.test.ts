import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { addsNothing, admitEntries, withinBytes } from "./admit-entries.ts";
import type { FarmResult } from "./project-results.ts";

const blob = (name: string) => digestOf(Buffer.from(name));
const GiB = 1024 ** 3;
const claimed = (name: string, sizeBytes: number): Digest => ({ ...blob(name), sizeBytes });

function entry(key: string, ...blobs: Digest[]): IndexEntry {
  return { namespace: "ccache", key, blobs, firstMs: 0, savedMs: undefined, inputs: undefined };
}

function result(key: string, value: Digest, ...blobs: Digest[]): FarmResult {
  const [attributes, costMs, bytes] = [{}, undefined, undefined];
  return { namespace: "ccache", key, value, attributes, blobs, costMs, bytes };
}

const admitted = (
  entries: readonly IndexEntry[],
  results: readonly FarmResult[],
  gone: readonly Digest[] = [],
) =>
  admitEntries(entries, results, new Set(gone.map(digestKey))).map(({ key, blobs }) => [
    key,
    ...blobs.map(digestKey),
  ]);

const [value, old, output, log, foreign] = ["value", "old", "output", "log", "foreign"].map(blob);
if (!value || !old || !output || !log || !foreign) throw new Error("no blobs");

test.each([
  { title: "a result that the farm lacks", told: [entry("x", value)], gone: [], expected: [] },
  {
    title: "blobs of others",
    told: [entry("k", value, foreign, output)],
    gone: [],
    expected: [["k", digestKey(value), digestKey(output)]],
  },
  {
    title: "a size that is not a blob's own",
    told: [entry("k", value, claimed("output", 64 * GiB))],
    gone: [],
    expected: [["k", digestKey(value)]],
  },
  {
    title: "a missing blob",
    told: [entry("k", value, output, log)],
    gone: [output],
    expected: [["k", digestKey(value), digestKey(log)]],
  },
  {
    title: "a result whose value is missing",
    told: [entry("k", value)],
    gone: [value],
    expected: [],
  },
  {
    title: "another machine's value of the same result",
    told: [entry("k", old, output)],
    gone: [],
    expected: [["k", digestKey(value), digestKey(output)]],
  },
])("an index is taken without $title", ({ told, gone, expected }) => {
  expect(admitted(told, [result("k", value, output, log)], gone)).toEqual(expected);
});

test("the bytes named by an index are limited, and each blob counts once", () => {
  const half = claimed("half", 32 * GiB);
  const rest = claimed("rest", 32 * GiB);
  const entries = [entry("a", half), entry("b", half), entry("c", rest), entry("d", blob("more"))];

  const { entries: kept, bytes } = withinBytes(entries);

  expect(kept.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  expect(bytes).toBe(64 * GiB);
});

test.each([
  { title: "the same", told: [entry("k", value, output)], expected: true },
  { title: "less", told: [entry("k", output)], expected: true },
  { title: "nothing", told: [], expected: true },
  { title: "another blob", told: [entry("k", value, log)], expected: false },
  { title: "another result", told: [entry("k", value), entry("x", value)], expected: false },
])("$title told again adds nothing: $expected", ({ told, expected }) => {
  expect(addsNothing(told, [entry("k", value, output)])).toBe(expected);
});
