import { expect, test } from "vitest";
import { digestKey } from "#core/digest.ts";
import { blobOfUri } from "./blob-of-uri.ts";

const hash = "ab".repeat(32);

test.each([
  [`bytestream://127.0.0.1:80/blobs/${hash}/12`, "default", `${hash}/12`],
  [`bytestream://host/team/app/blobs/${hash}/0`, "team/app", `${hash}/0`],
  [`bytestream://host/app/blobs/blake3/${hash}/12`, "app", `blake3-${hash}/12`],
  [`bytestream://host/blobs/${"ab".repeat(20)}/12`, "default", `sha1-${"ab".repeat(20)}/12`],
])("%s is %s's %s", (uri, project, key) => {
  const blob = blobOfUri(uri);
  expect(blob && [blob.project, digestKey(blob.digest)]).toEqual([project, key]);
});

test.each([
  "",
  "file:///tmp/x",
  `bytestream://host/blobs/${hash}`,
  `bytestream://host/blobs/${hash}/-1`,
  `bytestream://host/blobs/${hash.toUpperCase()}/1`,
  `bytestream://host/blobs/${hash}/9999999999999999`,
  `bytestream://host/blobs/md4/${hash}/1`,
  `bytestream://host/blobs/${hash.slice(1)}/1`,
  `https://host/blobs/${hash}/12`,
])("%j names no blob", (uri) => {
  expect(blobOfUri(uri)).toBeUndefined();
});
