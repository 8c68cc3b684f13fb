import { expect, test } from "vitest";
import type { Digest } from "#core/digest.ts";
import { type ActionTraits, similarityKeysOf } from "./similarity-keys.ts";

const digest = (letter: string): Digest => ({ hash: letter.repeat(64), sizeBytes: 1 }) as Digest;
const compile: ActionTraits = {
  commandDigest: digest("a"),
  platform: { OSFamily: "linux" },
  target: "//lib:one",
  mnemonic: "CppCompile",
  configuration: "k8-opt",
};
/** The levels whose names two actions share: `a` action, `t` target, `m` mnemonic, `p` platform. */
function shared(changes: Partial<ActionTraits>): string {
  const names = similarityKeysOf(compile);
  return similarityKeysOf({ ...compile, ...changes })
    .filter((name) => names.includes(name))
    .map((name) => name[0])
    .join("");
}

test.each<{ what: string; changes: Partial<ActionTraits>; levels: string }>([
  { what: "nothing that is known here, such as sources", changes: {}, levels: "atmp" },
  {
    what: "its command, as one shard of a test's",
    changes: { commandDigest: digest("b") },
    levels: "tmp",
  },
  { what: "its configuration", changes: { configuration: "k8-dbg" }, levels: "amp" },
  { what: "its target", changes: { target: "//lib:two" }, levels: "amp" },
  { what: "its mnemonic", changes: { mnemonic: "CppLink" }, levels: "ap" },
  { what: "its platform", changes: { platform: { OSFamily: "macos" } }, levels: "" },
])("an action that differs in $what shares the levels $levels", ({ changes, levels }) => {
  expect(shared(changes)).toBe(levels);
});

test("an action is identified by command and platform when its client sends nothing else", () => {
  const silent = { ...compile, target: "", mnemonic: "", configuration: "" };

  expect(similarityKeysOf(silent).map((name) => name[0])).toEqual(["a", "p"]);
  expect(similarityKeysOf(silent)[0]).toBe(similarityKeysOf(compile)[0]);
});

test("a requested size makes another action, with the same requirements for workers", () => {
  const sized = { ...compile, platform: { OSFamily: "linux", "min-size-class": "2" } };

  expect(similarityKeysOf(sized)[0]).not.toBe(similarityKeysOf(compile)[0]);
  expect(similarityKeysOf(sized).at(-1)).toBe(similarityKeysOf(compile).at(-1));
});
