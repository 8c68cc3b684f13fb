import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Namespace, ResultKey } from "#commit-index/result-key.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { differences } from "./differences.ts";
import { isChosen } from "./is-chosen.ts";

const keys = fc.string({ minLength: 1 }).map((key): ResultKey => ({ namespace: "reapi", key }));

describe("the share of hits that is made again", () => {
  test("is the same for repeated requests, nothing for 0 and everything for 1", () => {
    fc.assert(
      fc.property(keys, fc.uuid(), fc.double({ min: 0, max: 1, noNaN: true }), (key, id, share) => {
        expect(isChosen(share, id, key)).toBe(isChosen(share, id, key));
        expect(isChosen(0, id, key)).toBe(false);
        expect(isChosen(1, id, key)).toBe(true);
      }),
    );
  });

  test("is about as large as configured", () => {
    const chosen = Array.from({ length: 20_000 }, (_, n) =>
      isChosen(0.05, "build", { namespace: "reapi", key: `key-${n}` }),
    );
    // Three standard deviations around 1,000.
    expect(Math.abs(chosen.filter(Boolean).length - 1_000)).toBeLessThan(100);
  });

  test.each(["gradle", "nx", "turborepo"] as const)(
    "has none of %s: made again, a good one looks another",
    (namespace) => {
      expect(isChosen(1, "build", { namespace, key: "a" })).toBe(false);
    },
  );
});

type Result = MessageInitShape<typeof ActionResultSchema>;
const action = (result: Result) => toBinary(ActionResultSchema, create(ActionResultSchema, result));
const file = (path: string, hash: string, isExecutable = false) => ({
  path,
  isExecutable,
  digest: { hash, sizeBytes: 1n },
});
const one = { outputFiles: [file("a.o", "1")] };

describe("results of actions", () => {
  test.each<[string, Result, Result, readonly string[]]>([
    ["are the same", one, one, []],
    ["printed something else", { ...one, stdoutRaw: Buffer.from("at 10:00") }, one, []],
    ["ran elsewhere", { ...one, executionMetadata: { worker: "w" } }, one, []],
    ["have a file of other bytes", one, { outputFiles: [file("a.o", "2")] }, ["a.o"]],
    ["have a file that may be run", one, { outputFiles: [file("a.o", "1", true)] }, ["a.o"]],
    [
      "have a file less, and a directory more",
      { outputFiles: [file("a.o", "1"), file("b.o", "1")] },
      { ...one, outputDirectories: [{ path: "d", treeDigest: { hash: "3", sizeBytes: 1n } }] },
      ["b.o", "d"],
    ],
    [
      "name their files in another order",
      { outputFiles: [file("a.o", "1"), file("b.o", "1")] },
      { outputFiles: [file("b.o", "1"), file("a.o", "1")] },
      [],
    ],
    [
      "have a symlink that leads elsewhere",
      { outputSymlinks: [{ path: "l", target: "a" }] },
      { outputSymlinks: [{ path: "l", target: "b" }] },
      ["l"],
    ],
    [
      "say their symlinks in the older field",
      { outputSymlinks: [{ path: "l", target: "a" }] },
      { outputFileSymlinks: [{ path: "l", target: "a" }] },
      [],
    ],
  ])("that %s", (_, kept, now, expected) => {
    expect(differences("reapi", action(kept), action(now))).toEqual(expected);
    expect(differences("bazel", action(now), action(kept))).toEqual(expected);
  });

  test("name a hundred files at most", () => {
    const many = { outputFiles: Array.from({ length: 500 }, (_, n) => file(`f${n}`, "1")) };
    const named = differences("reapi", action(many), action({}));
    expect(named).toHaveLength(100);
    expect(named.at(-1)).toBe("and 401 more");
  });
});

/** Returns an entry in the format of ccache 4.7.5. */
function ccacheEntry(of: { type?: number; time?: number; rest?: string; version?: number }) {
  const head = Buffer.from([0xcc, 0xac, of.version ?? 1, of.type ?? 0, 1, 1, 1]);
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(of.time ?? 1));
  return Buffer.concat([head, time, Buffer.from(of.rest ?? "object"), Buffer.alloc(16, of.time)]);
}

describe("entries of ccache", () => {
  test.each<[string, Parameters<typeof ccacheEntry>[0], Parameters<typeof ccacheEntry>[0], number]>(
    [
      ["made at another time are the same", { time: 1 }, { time: 2 }, 0],
      ["of other objects differ", { rest: "object" }, { rest: "poison" }, 1],
      ["that gather several states are not compared", { type: 1 }, { type: 1, rest: "x" }, 0],
      ["of a later format are not compared", { version: 2 }, { version: 2, rest: "x" }, 0],
    ],
  )("%s", (_, kept, now, expected) => {
    expect(differences("ccache", ccacheEntry(kept), ccacheEntry(now))).toHaveLength(expected);
  });
});

test("all others are compared byte by byte, and any bytes are accepted", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Namespace>("reapi", "bazel", "ccache", "sccache", "dune", "results"),
      fc.uint8Array(),
      fc.uint8Array(),
      (namespace, kept, now) => {
        expect(differences(namespace, kept, kept)).toEqual([]);
        const found = differences(namespace, kept, now);
        const isSame = Buffer.compare(kept, now) === 0;
        expect(namespace !== "sccache" || found.length === (isSame ? 0 : 1)).toBe(true);
      },
    ),
  );
});
