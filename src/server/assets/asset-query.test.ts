import { describe, expect, test } from "vitest";
import { isUsable, uncheckedForMs } from "./asset-age.ts";
import { assetKey, assetQueryOf, requireFetchable } from "./asset-query.ts";
import { parseChecksum } from "./checksum.ts";

const one = "https://example.com/a.tar.gz";
const two = "https://mirror.example.com/a.tar.gz";
const queryOf = (qualifiers: Readonly<Record<string, string>>, uris = [one, two]) =>
  assetQueryOf("blob", {
    uris,
    qualifiers: Object.entries(qualifiers).map(([name, value]) => ({ name, value })),
  });
const sri = (bytes: number, algorithm: string) =>
  `${algorithm}-${Buffer.alloc(bytes, 7).toString("base64")}`;

describe("headers for origins", () => {
  test.each([
    [
      "for all addresses",
      { "http_header:Authorization": "Basic eA==" },
      ["Basic eA==", "Basic eA=="],
    ],
    ["for one address", { "http_header_url:1:authorization": "t" }, [undefined, "t"]],
    [
      "in Bazel's JSON",
      { "bazel.auth_headers": `{"${one}":{"Authorization":"t"}}` },
      ["t", undefined],
    ],
  ])("%s", (_, qualifiers, expected) => {
    const query = queryOf({ ...qualifiers, "bazel.canonical_id": "c" });

    expect([one, two].map((uri) => query.headersFor(uri)["authorization"])).toEqual(expected);
    // Neither the key nor the answer contains them.
    expect(query.qualifiers).toEqual([["bazel.canonical_id", "c"]]);
    expect(assetKey(query, one)).toBe(assetKey(queryOf({ "bazel.canonical_id": "c" }), one));
  });

  test.each([
    ["http_header:Host", "example.com"],
    ["http_header:transfer-encoding", "chunked"],
    ["http_header:x", "a\r\nhost: b"],
    ["http_header:a b", "c"],
    ["bazel.auth_headers", "secret"],
  ])("%s: %j is refused, without its value in the message", (name, value) => {
    expect(() => queryOf({ [name]: value })).toThrow(/^(?!.*secret).*header/);
  });
});

test("a key depends on address, kind and qualifiers, and not on their order", () => {
  const key = assetKey(queryOf({ a: "1", b: "2" }), one);

  expect(assetKey(queryOf({ b: "2", a: "1" }), one)).toBe(key);
  expect(assetKey(queryOf({ a: "1", b: "3" }), one)).not.toBe(key);
  expect(assetKey(queryOf({ a: "1", b: "2" }), two)).not.toBe(key);
  expect(assetKey({ ...queryOf({ a: "1", b: "2" }), kind: "directory" }, one)).not.toBe(key);
});

test.each([
  ["no address", { uris: [] }],
  ["an empty address", { uris: [""] }],
  ["an address with a line break", { uris: ["https://example.com/\nx"] }],
  ["101 addresses", { uris: Array.from({ length: 101 }, (_, n) => `${one}${n}`) }],
  ["a qualifier twice", { qualifiers: ["a", "a"] }],
  ["a qualifier without a name", { qualifiers: [""] }],
  ["201 qualifiers", { qualifiers: Array.from({ length: 201 }, (_, n) => `q${n}`) }],
])(
  "a request with %s is invalid",
  (_, {
    uris = [one],
    qualifiers = [],
  }: {
    uris?: string[];
    qualifiers?: string[];
  }) => {
    const request = { uris, qualifiers: qualifiers.map((name) => ({ name, value: "x" })) };

    expect(() => assetQueryOf("blob", request)).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  },
);

test("a download knows its qualifiers, and names another", () => {
  requireFetchable(queryOf({ "checksum.sri": sri(32, "sha256"), "bazel.canonical_id": "x" }));

  expect(() => requireFetchable(queryOf({ "vcs.branch": "main" }))).toThrow(
    '"vcs.branch" not supported',
  );
});

test.each([
  ["one", sri(32, "sha256"), "sha256", 1],
  ["the strongest of several", `${sri(32, "sha256")} ${sri(64, "sha512")}`, "sha512", 1],
  ["two of one algorithm", `${sri(32, "sha256")}\n${sri(32, "sha256")}?x`, "sha256", 2],
])("a checksum with %s hash", (_, text, algorithm, hashes) => {
  const parsed = parseChecksum(text);

  expect([parsed.algorithm, parsed.hashes.length]).toEqual([algorithm, hashes]);
});

test.each(["", "md5-AAAA", "sha256-AAAA", `sha1-${"A".repeat(28)}`])(
  "%j is no checksum",
  (text) => {
    expect(() => parseChecksum(text)).toThrow("checksum.sri must be a hash");
  },
);

const now = 1_000 * uncheckedForMs;
test.each([
  ["fetched a moment ago", { origin: "fetched", storedAtMs: now - 1 }, {}, true],
  ["fetched a day ago", { origin: "fetched", storedAtMs: now - uncheckedForMs }, {}, false],
  [
    "fetched a day ago, with a checksum",
    { origin: "fetched", storedAtMs: 0 },
    { hasChecksum: true },
    true,
  ],
  [
    "older than the client accepts",
    { origin: "fetched", storedAtMs: now - 2 },
    { oldestMs: now - 1 },
    false,
  ],
  ["pushed long ago", { origin: "pushed", storedAtMs: 0 }, {}, true],
  ["pushed until later", { origin: "pushed", storedAtMs: 0, expiresAtMs: now + 1 }, {}, true],
  ["pushed until now", { origin: "pushed", storedAtMs: 0, expiresAtMs: now }, {}, false],
] as const)("content that was %s", (_, record, asked, expected) => {
  expect(
    isUsable(
      { expiresAtMs: undefined, ...record },
      { nowMs: now, oldestMs: undefined, hasChecksum: false, ...asked },
    ),
  ).toBe(expected);
});
