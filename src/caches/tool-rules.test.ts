import { describe, expect, test } from "vitest";
import type { CacheTool } from "#api/tool-cache.ts";
import { Fault } from "#core/fault.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { cacheAddressOf } from "./cache-address.ts";
import { rulesOf } from "./rules-of.ts";
import type { Lookup } from "./tool-rules.ts";

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

function lookup(
  method: string,
  tool: CacheTool,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Lookup {
  const address = cacheAddressOf(`/cache/p/${tool}${path}`);
  return rulesOf[tool].lookupOf({ ...address, method, header: (name) => headers[name] });
}

function statusOf(asked: Lookup): number {
  return asked.kind === "answer" ? asked.answer.status : 0;
}

describe("recorded requests of real tools are understood", () => {
  test.each<[CacheTool, string, string, Partial<Lookup>]>([
    ["bazel", "GET", `/ac/${hash}`, { kind: "read-action-result", hash, key: `ac/${hash}` }],
    ["bazel", "PUT", `/ac/${hash}`, { kind: "write", key: `ac/${hash}`, again: "replace" }],
    ["bazel", "GET", `/cas/${hash}`, { kind: "read-blob", hash }],
    ["bazel", "PUT", `/cas/${hash}`, { kind: "write-blob", hash }],
    [
      "ccache",
      "GET",
      "/b10ahtgqjq8d5k1v8b3k0n9f3o1f0b8h2",
      { kind: "read", key: "b10ahtgqjq8d5k1v8b3k0n9f3o1f0b8h2" },
    ],
    ["ccache", "PUT", "/b1/0ahtgqjq8d5k1", { kind: "write", key: "b1/0ahtgqjq8d5k1" }],
    ["ccache", "GET", `/ac/${hash}`, { kind: "read", key: `ac/${hash}` }],
    ["ccache", "DELETE", "/b1/0ahtgqjq8d5k1", { kind: "remove", key: "b1/0ahtgqjq8d5k1" }],
    ["sccache", "GET", "/.sccache_check", { kind: "read", key: ".sccache_check" }],
    ["sccache", "PUT", `/1/0/7/${hash}`, { kind: "write", key: `1/0/7/${hash}` }],
    ["gradle", "PUT", "/0123456789abcdef0123456789abcdef", { kind: "write" }],
    [
      "maven",
      "GET",
      "/v1.1/org.example/app/7f505e0672e2020e/buildinfo.xml",
      { kind: "read", key: "v1.1/org.example/app/7f505e0672e2020e/buildinfo.xml" },
    ],
    [
      "maven",
      "PUT",
      "/v1.1/org.example/app/7f505e0672e2020e/app-sources.jar",
      { kind: "write", again: "replace" },
    ],
    [
      "maven",
      "PUT",
      "/v1.1/org.example/app/d20b6013-15a3-4204-9db7-4d4e57329c22/build-cache-report.xml",
      { kind: "write" },
    ],
    ["nx", "GET", "/v1/cache/10485745323157372248", { kind: "read", key: "10485745323157372248" }],
    ["nx", "PUT", "/v1/cache/10485745323157372248", { kind: "write", again: "refuse" }],
    ["gocache", "GET", `/${hash}`, { kind: "read", key: hash }],
    ["gocache", "PUT", `/${hash}`, { kind: "write", key: hash, again: "replace" }],
    ["turborepo", "GET", "/v8/artifacts/64f2?slug=farm", { kind: "read", key: "slug:farm/64f2" }],
    ["turborepo", "GET", "/v8/artifacts/64f2?teamId=t_1", { kind: "read", key: "id:t_1/64f2" }],
    [
      "turborepo",
      "HEAD",
      "/v8/artifacts/64f2?teamId=t_1&slug=farm",
      { kind: "read", key: "id:t_1/64f2" },
    ],
    ["turborepo", "GET", "/v8/artifacts/64f2", { kind: "read", key: "slug:/64f2" }],
  ])("%s: %s %s", (tool, method, path, expected) => {
    expect(lookup(method, tool, path)).toMatchObject(expected);
  });

  test.each<[CacheTool, string, string, number]>([
    ["sccache", "PROPFIND", "/", 207],
    ["sccache", "PROPFIND", "/1/0/", 207],
    ["sccache", "MKCOL", "/1/", 405],
    ["sccache", "OPTIONS", "/", 200],
    ["sccache", "GET", "/", 405],
    ["turborepo", "GET", "/v8/artifacts/status", 200],
    ["turborepo", "OPTIONS", "/v8/artifacts/64f2", 204],
    ["turborepo", "DELETE", "/v8/artifacts/64f2", 405],
    ["bazel", "DELETE", `/cas/${hash}`, 405],
    ["nx", "POST", "/v1/cache/1", 405],
    ["ccache", "POST", "/a", 405],
    ["gradle", "POST", "/a", 405],
    ["maven", "OPTIONS", "/v1.1/g/a/0123/app.jar", 405],
    ["maven", "DELETE", "/v1.1/g/a/0123/app.jar", 405],
    ["gocache", "DELETE", `/${hash}`, 405],
  ])("%s: %s %s is answered %i at once", (tool, method, path, status) => {
    expect(statusOf(lookup(method, tool, path))).toBe(status);
  });
});

describe("what no tool asks is refused", () => {
  test.each<[CacheTool, string]>([
    ["bazel", "/"],
    ["bazel", `/ac/${hash.toUpperCase()}`],
    ["bazel", `/ac/${hash}/x`],
    ["bazel", `/cas/${hash.slice(1)}`],
    ["bazel", `/blobs/${hash}`],
    ["ccache", "/"],
    ["ccache", "/a/b/c/d"],
    ["ccache", "/a.b"],
    ["gradle", "/a/b"],
    ["gradle", "/a/"],
    ["maven", "/v1.1/g/a/0123/"],
    ["maven", "/v1.1/g/a/0123"],
    ["maven", "/v1.1/g/a/0123/x/y"],
    ["maven", "/1.1/g/a/0123/x"],
    ["maven", "/v1.1/g:h/a/0123/x"],
    ["maven", "/v1.1/g/a/0123/..%2fx"],
    ["sccache", `${"/a".repeat(13)}`],
    ["sccache", "/a:b"],
    ["gocache", `/${hash.toUpperCase()}`],
    ["gocache", `/${hash}/x`],
    ["gocache", "/abc"],
    ["nx", "/v1/cache/"],
    ["nx", "/v1/cache/a/b"],
    ["nx", "/v2/cache/1"],
    ["turborepo", "/v8/artifacts/a?slug=../b"],
    ["turborepo", "/v8/artifacts/a/b"],
    ["turborepo", "/v9/artifacts/a"],
    ["results", "/a/../b"],
    ["results", "/.."],
    ["dune", "/v4/."],
  ])("%s %s", (tool, path) => {
    expect(() => lookup("GET", tool, path)).toThrow(Fault);
  });
});

describe("turborepo", () => {
  const headers = {
    "x-artifact-duration": "1200",
    "x-artifact-tag": "bG9uZ2VyIHRoYW4gMzIgYnl0ZXMsIGluIGJhc2U2NA==",
    "x-artifact-sha": "b6589fc6ab0dc82cf12099d1c2d40ab994e8410c",
    "user-agent": "turbo",
  };

  test("keeps what it will want to hear again, and nothing else", () => {
    const { "user-agent": _, ...kept } = headers;

    expect(lookup("PUT", "turborepo", "/v8/artifacts/a", headers)).toMatchObject({
      attributes: kept,
    });
  });

  test.each([
    ["x-artifact-duration", "soon"],
    ["x-artifact-duration", "-1"],
    ["x-artifact-tag", "a b"],
    ["x-artifact-tag", "a".repeat(601)],
    ["x-artifact-sha", "../etc"],
  ])("takes no %s: %s", (name, value) => {
    expect(() => lookup("PUT", "turborepo", "/v8/artifacts/a", { [name]: value })).toThrow(Fault);
  });

  test("describes artifacts, and says null of those that are not there", () => {
    const asked = lookup("POST", "turborepo", "/v8/artifacts?slug=farm");
    if (asked.kind !== "look") throw new Error(asked.kind);

    const keys = asked.keysIn(Buffer.from('{"hashes":["a","b"]}'));
    const answer = asked.tell(
      new Map([
        [
          "slug:farm/a",
          {
            project: "p",
            tool: "turborepo",
            key: "slug:farm/a",
            domain: protectedDomain,
            digest: { hash, sizeBytes: 4 } as never,
            attributes: headers,
            createdAt: new Date(0),
            lastUsedAt: new Date(0),
          },
        ],
      ]),
    );

    expect(keys).toEqual(["slug:farm/a", "slug:farm/b"]);
    expect(JSON.parse(answer.body ?? "")).toEqual({
      a: { size: 4, taskDurationMs: 1200, tag: headers["x-artifact-tag"] },
      b: null,
    });
  });

  test.each(["", "{", "[]", '{"hashes":[1]}', '{"hashes":["../a"]}'])(
    "asks for no artifacts by %s",
    (body) => {
      const asked = lookup("POST", "turborepo", "/v8/artifacts");
      if (asked.kind !== "look") throw new Error(asked.kind);

      expect(() => asked.keysIn(Buffer.from(body))).toThrow(Fault);
    },
  );
});

test("Nx hears of no status but those that it goes on after", () => {
  const told = (status: number, method: string) =>
    rulesOf.nx.refused({ status, code: "", message: "" }, method).status;
  const all = [400, 401, 403, 404, 409, 413, 429, 500, 503, 504, 507];

  expect(new Set(all.map((status) => told(status, "GET")))).toEqual(new Set([404]));
  expect(new Set(all.map((status) => told(status, "PUT")))).toEqual(new Set([403, 409]));
  expect(told(409, "PUT")).toBe(409);
});
