import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "#api/endpoint.ts";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import type { Right } from "#core/right.ts";
import { readingVerbs } from "#core/verb.ts";
import { askServer } from "../../test/support/ask-server.ts";
import { methodsOfProtocols } from "./endpoints-by-principals.fixture.ts";
import { methodRights } from "./grpc/method-rights.ts";
import { aClosedFarm } from "./two-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
let withoutRights: string;
let reader: string;
/** May read one repository, and nothing of the whole farm. */
let readerOfOne: string;
beforeAll(async () => {
  farm = await aClosedFarm();
  withoutRights = await farm.tokenOf("newcomer", []);
  reader = await farm.tokenOf("reader", [...readingVerbs, "read-audit"]);
  readerOfOne = await farm.tokenOf("reader-of-one", readingVerbs, "team/one");
  const root = await farm.tokenOf("second-root", ["administer"]);
  await askServer(farm.server, "PUT", "/access", { access: "private" }, root);
});
afterAll(() => farm.stop());

const entries: readonly [string, Endpoint][] = Object.entries(allEndpoints);
const needsRight = (right: Right) => right.kind !== "none";

/** Calls an endpoint with parameters and a body that no endpoint accepts. */
async function callOf({ method, path }: Endpoint, token: string): Promise<Response> {
  const filled = path.replaceAll(/:[a-zA-Z]+(\{[^}]*\})?/g, "x");
  return fetch(new URL(`/api/v1${filled}?nobodyKnowsThis=1`, farm.server.url), {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(method === "GET" ? {} : { body: "not JSON" }),
  });
}

describe("every endpoint that needs a right refuses who has none, before it reads the query or the body", () => {
  test.each(entries.filter(([, { right }]) => needsRight(right)))("%s", async (_, entry) => {
    for (const token of ["", withoutRights]) {
      const response = await callOf(entry, token);
      await response.body?.cancel();
      expect(response.status).toBe(403);
    }
  });
});

/** Returns the endpoints whose handlers a caller reaches, by name. */
async function reachedBy(token: string): Promise<string[]> {
  const reached: string[] = [];
  for (const [name, entry] of entries.filter(([, { right }]) => needsRight(right))) {
    const response = await callOf(entry, token);
    await response.body?.cancel();
    if (response.status !== 403) reached.push(name);
  }
  return reached.toSorted();
}

const reads = ({ right }: Endpoint) =>
  right.kind !== "none" && right.verbs.some((verb) => verb.startsWith("read"));

test("who may read reaches the handlers of all that is read, and of nothing else", async () => {
  const read = entries.filter(([, entry]) => reads(entry)).map(([name]) => name);

  expect(await reachedBy(reader)).toEqual(read.toSorted());
  expect(read.length).toBeGreaterThan(3);
});

/** Endpoints that every caller with a right to read may call, with the reason. */
const forEveryReader: Readonly<Record<string, string>> = {
  server: "version and setting of the farm",
  openApi: "a document that is the same for all farms",
  definitionsSchema: "a document that is the same for all farms",
  runManifestSchema: "a document that is the same for all farms",
  checkRight: "the caller's own rights; those of others need `administer`",
  whoMay: "the caller's own rights and those of `anyone`; those of others need `administer`",
  roles: "names of sets of verbs",
  grants: "the caller's own grants; those of others need `administer`",
  rightsOf: "the caller's own rights; those of others need `administer`",
  shareLinks: "the caller's own links; those of others need `administer`",
  revokeShareLink: "the caller's own links; those of others need `administer`",
  sessions: "the caller's own sessions; those of others need `administer`",
};

test("each other endpoint that reads states the whole farm, the place of an object, or a list", () => {
  const others = entries.filter(([, entry]) => reads(entry) && entry.right.kind === "some");

  expect(others.map(([name]) => name).toSorted()).toEqual(Object.keys(forEveryReader).toSorted());
});

test("who may read one repository only reaches nothing of the whole farm", async () => {
  const ofFarm = entries.filter(([, { right }]) => right.kind === "farm").map(([name]) => name);
  const reached = new Set(await reachedBy(readerOfOne));

  expect(ofFarm.filter((name) => reached.has(name))).toEqual([]);
  expect(ofFarm.length).toBeGreaterThan(20);
});

test("every endpoint that only reads needs the right to read, or says why it needs none", () => {
  const others = entries.filter(([, entry]) => entry.method === "GET" && !reads(entry));
  const withoutReading = others.map(([name, { right }]) => [name, right.kind]);

  expect(withoutReading).toEqual([
    // These tell who the caller is, and what only administrators and holders of `secret` or `forge` may list.
    ["backups", "farm"],
    ["caller", "none"],
    ["tokens", "farm"],
    ["secrets", "some"],
    ["projects", "farm"],
    ["identities", "farm"],
    ["issuers", "farm"],
    ["forgeExamination", "farm"],
    ["forgeAccounts", "farm"],
    // A share link opens one object for whoever has its token.
    ["shared", "none"],
    ["sharedLog", "none"],
    ["sharedLogIndex", "none"],
    ["sharedLogSearch", "none"],
    ["sharedOutput", "none"],
    ["sharedComparison", "none"],
  ]);
});

test("the table of gRPC methods names methods of the protocols", () => {
  const known = new Set(methodsOfProtocols.map(([path]) => path));
  expect(Object.keys(methodRights).filter((path) => !known.has(path))).toEqual([]);
});

describe("every gRPC method that needs a right refuses who has none", () => {
  const guarded = methodsOfProtocols.filter(([path]) => {
    const right = methodRights[path];
    return right !== undefined && needsRight(right);
  });

  test.each(guarded)("%s", async (_, method) => {
    const { channel } = farm.asker("team/a", withoutRights);
    const call = async () => {
      for await (const answer of channel.raw(method, [new Uint8Array()])) void answer;
    };

    await expect(call()).rejects.toMatchObject({ code: "permission_denied" });
  });
});

test("every gRPC method states a right, and each that reads needs one", () => {
  const withoutRight = methodsOfProtocols
    .filter(([path]) => path in methodRights)
    .filter(([path]) => !needsRight(methodRights[path] as Right))
    .map(([path]) => path);

  // Callers ask for these before they have a token, and the answers tell nothing of a project.
  expect(withoutRight).toEqual([
    "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/List",
    "/grpc.health.v1.Health/Watch",
  ]);
});

test("caches of build tools and figures for scrapers are read by who may read", async () => {
  const paths = ["/cache/team/gradle/abc", "/metrics"];
  for (const path of paths) {
    const statusFor = async (headers: Record<string, string>) => {
      const response = await fetch(new URL(path, farm.server.url), { headers });
      await response.body?.cancel();
      return response.status;
    };
    expect([401, 403]).toContain(await statusFor({}));
    expect(await statusFor({ authorization: `Bearer ${withoutRights}` })).toBe(403);
    expect([200, 404]).toContain(await statusFor({ authorization: `Bearer ${reader}` }));
  }
});
