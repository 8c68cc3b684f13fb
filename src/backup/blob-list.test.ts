import { expect, test } from "vitest";
import { namespaceOf, ownNamespace } from "#cas/namespaces/namespace.ts";
import { Digest } from "#core/digest.ts";
import { blobLine, parseBlobLine } from "./blob-list.ts";

const hash = "ab".repeat(32);

test.each([
  { namespace: ownNamespace, digest: Digest.parse({ hash, sizeBytes: 12 }) },
  {
    namespace: namespaceOf("team/web"),
    digest: Digest.parse({ hash: `blake3-${hash}`, sizeBytes: 0 }),
  },
])("a line of the list holds the blob $digest.hash", ({ namespace, digest }) => {
  const blob = { namespace, digest, lastUsedAt: new Date("2026-01-02T03:04:05Z") };

  expect(parseBlobLine(blobLine(blob).slice(0, -1))).toEqual(blob);
});

test.each([
  { what: "a namespace outside of the store", line: `${hash} 1 1 projects/../../etc` },
  { what: "an absolute namespace", line: `${hash} 1 1 /etc` },
  { what: "a hash that is a path", line: `../../${hash} 1 1 ` },
  { what: "a size that is no number", line: `${hash} x 1 ` },
  { what: "no time", line: `${hash} 1` },
])("$what is refused", ({ line }) => {
  expect(() => parseBlobLine(line)).toThrow(/illegal line/);
});
