import { describe, expect, test } from "vitest";
import { digestKey } from "#core/digest.ts";
import { parseReadName, parseWriteName } from "./resource-name.ts";

const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const parsed = ({ instanceName, digest, packing }: ReturnType<typeof parseReadName>) => [
  instanceName,
  digestKey(digest),
  packing,
];

describe("a blob is read", () => {
  test.each([
    [`blobs/${hash}/5`, "", `${hash}/5`, "plain"],
    [`some/instance/blobs/${hash}/5`, "some/instance", `${hash}/5`, "plain"],
    [`compressed-blobs/zstd/${hash}/5`, "", `${hash}/5`, "zstd"],
    [`a/b/compressed-blobs/zstd/blake3/${hash}/5`, "a/b", `blake3-${hash}/5`, "zstd"],
    [`blobs/blake3/${hash}/5`, "", `blake3-${hash}/5`, "plain"],
    [`blobs/sha256/${hash}/5`, "", `${hash}/5`, "plain"],
    [`blobs/${hash.slice(0, 40)}/5`, "", `sha1-${hash.slice(0, 40)}/5`, "plain"],
  ])("as %s", (name, instance, key, packing) => {
    expect(parsed(parseReadName(name))).toEqual([instance, key, packing]);
  });

  test.each([
    "",
    "blobs",
    `blobs/${hash}`,
    `blobs/${hash}/five`,
    `blobs/${hash}/-5`,
    `blobs/${hash}/99999999999999999999`,
    `blobs/${hash}/5/more`,
    `blobs/${hash.toUpperCase()}/5`,
    `blobs/BLAKE3/${hash}/5`,
    `blobs/../${hash}/5`,
    `compressed-blobs/${hash}/5`,
    `compressed-blobs/deflate/${hash}/5`,
    `compressed-blobs/zstd/blobs/${hash}/5`,
    `uploads/x/${hash}/5`,
    `${"a/".repeat(5_000)}blobs/${hash}/5`,
  ])("but not as %s", (name) => {
    expect(() => parseReadName(name)).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });
});

describe("a blob is written", () => {
  test.each([
    [`uploads/u/blobs/${hash}/5`, "", `${hash}/5`, "plain"],
    [`a/b/uploads/u/blobs/${hash}/5/some/path.o`, "a/b", `${hash}/5`, "plain"],
    [`uploads/u/compressed-blobs/zstd/blake3/${hash}/5/x`, "", `blake3-${hash}/5`, "zstd"],
  ])("as %s", (name, instance, key, packing) => {
    expect(parsed(parseWriteName(name))).toEqual([instance, key, packing]);
  });

  test.each([
    `blobs/${hash}/5`,
    `uploads/blobs/${hash}/5`,
    `uploads//blobs/${hash}/5`,
    `uploads/u/blobs/${hash}`,
    `uploads/u/compressed-blobs/identity/${hash}/5`,
  ])("but not as %s", (name) => {
    expect(() => parseWriteName(name)).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });
});
