import fc from "fast-check";
import { digestOf } from "#cas/digest-of.ts";
import type { IndexEntry } from "./index-entry.ts";
import { Namespace } from "./result-key.ts";

/** Returns an entry of ccache, whose value is derived from its key. */
export function entry(key: string, firstMs = 0, more: Partial<IndexEntry> = {}): IndexEntry {
  return {
    namespace: "ccache",
    key,
    blobs: [digestOf(Buffer.from(`value of ${key}`))],
    firstMs,
    savedMs: undefined,
    inputs: undefined,
    ...more,
  };
}

const digests = fc
  .nat(40)
  .map((n) => digestOf(Buffer.from(`blob ${n}`), n % 7 === 0 ? "blake3" : "sha256"));
const paths = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 });

/** Generates entries whose keys often collide. */
const anyEntry: fc.Arbitrary<IndexEntry> = fc.record({
  namespace: fc.constantFrom(...Namespace.options.slice(0, 3)),
  key: fc.nat(30).map((n) => `key ${n}`),
  blobs: fc.uniqueArray(digests, { minLength: 1, maxLength: 4, selector: (one) => one.hash }),
  firstMs: fc.nat(100_000),
  savedMs: fc.option(fc.nat(60_000), { nil: undefined }),
  inputs: fc.option(
    fc
      .uniqueArray(
        fc
          .tuple(paths, fc.boolean())
          .map(([parts, isFile]) => parts.join("/") + (isFile ? "" : "/")),
        { minLength: 1, maxLength: 4 },
      )
      .map((all) => all.sort()),
    { nil: undefined },
  ),
});

/** Generates an index: each key occurs once. */
export const anyIndex: fc.Arbitrary<IndexEntry[]> = fc.uniqueArray(anyEntry, {
  maxLength: 20,
  selector: ({ namespace, key }) => `${namespace} ${key}`,
});
