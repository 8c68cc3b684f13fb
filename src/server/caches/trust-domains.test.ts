import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Grant, Principal } from "#access/principal.ts";
import { digestOf } from "#cas/digest-of.ts";
import { Fault } from "#core/fault.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { type ServedCaches, send, serveCaches } from "./caches.fixture.ts";

const db = await freshDb();
let served: ServedCaches;
let project: string;

const grant = (verb: Grant["verb"]): Grant => ({
  verb,
  repository: project,
  branch: "*",
  priorityCap: null,
  top: false,
});

/** The callers of this test, by what they send in place of a token. */
function callerNamed(name: string | undefined): Principal {
  switch (name) {
    case "ci":
      return { name, grants: [grant("cache")] };
    case "ada":
    case "bob":
      return { name, grants: [grant("execute")] };
    case "reader":
      return { name, grants: [grant("read")] };
    case "pr":
      return {
        name: "job",
        grants: [{ ...grant("cache"), branch: "" }],
        domain: TrustDomain.parse(`pr/7@${project}`),
      };
    case undefined:
    default:
      throw new Fault("unauthenticated", "nobody");
  }
}

beforeEach(async () => {
  project = `p${randomBytes(6).toString("hex")}`;
  served = await serveCaches(db, {
    identify: async (authorization) => callerNamed(authorization?.slice("Bearer ".length)),
  });
});
afterEach(() => served.stop());
afterAll(() => db.close());

const as = (who: string, method: string, path: string, body?: string) =>
  send(served.url, method, `/cache/${project}${path}`, {
    ...(body === undefined ? {} : { body }),
    headers: { authorization: `Bearer ${who}` },
  });
const read = async (who: string, path: string) => {
  const { status, body } = await as(who, "GET", path);
  return status === 200 ? body.toString() : status;
};

/** One path of each protocol. */
const places: readonly (readonly [tool: string, path: string])[] = [
  ["bazel", `/bazel/ac/${"a".repeat(64)}`],
  ["ccache", "/ccache/b1/0ahtgqjq8d5k1"],
  ["sccache", `/sccache/1/0/7/${"a".repeat(64)}`],
  ["gradle", "/gradle/0123456789abcdef0123456789abcdef"],
  ["maven", "/maven/v1.1/org.example/app/7f505e0672e2020e/app.jar"],
  ["turborepo", "/turborepo/v8/artifacts/64f2b4644d820f0f?slug=farm"],
  ["nx", "/nx/v1/cache/10485745323157372248"],
  ["dune", "/dune/v4/0123456789abcdef"],
  ["results", "/results/a/b/c"],
];

describe.each(places)("%s", (tool, path) => {
  test("an entry of somebody without `cache` is read by nobody else", async () => {
    await as("ada", "PUT", path, "poison");

    expect(await read("ada", path)).toBe("poison");
    for (const who of ["bob", "ci", "pr", "reader"]) expect(await read(who, path)).toBe(404);
  });

  test("a pull request reads its own entry, then that of `protected`, which it cannot change", async () => {
    await as("pr", "PUT", path, "poison");
    expect(await read("pr", path)).toBe("poison");
    expect(await read("ci", path)).toBe(404);

    await as("ci", "PUT", path, "right");
    for (const who of ["ci", "ada", "bob", "reader"]) expect(await read(who, path)).toBe("right");
    expect(await read("pr", path)).toBe("poison");
    await as("pr", "DELETE", path);
    await as("pr", "PUT", path, "poison again");
    for (const who of ["ci", "ada", "bob", "reader"]) expect(await read(who, path)).toBe("right");
  });

  test("whoever may only read writes nothing, and a strange token does nothing", async () => {
    const refused = await as("reader", "PUT", path, "poison");
    const stranger = await as("nobody", "PUT", path, "poison");

    expect(refused.status).toBe(403);
    expect(stranger.status).toBe(tool === "nx" ? 403 : 401);
    for (const who of ["ci", "pr", "reader"]) expect(await read(who, path)).toBe(404);
  });
});

test("Nx: an entry of `protected` is not hidden by one of a pull request, which is refused", async () => {
  const path = "/nx/v1/cache/1";
  await as("ci", "PUT", path, "right");

  const put = await as("pr", "PUT", path, "poison");

  expect(put.status).toBe(409);
  expect(await read("pr", path)).toBe("right");
});

test("questions about many entries are answered in the domain of the caller, too", async () => {
  const artifact = (hash: string) => `/turborepo/v8/artifacts/${hash}?slug=farm`;
  await as("pr", "PUT", artifact("a"), "poison");
  await as("ci", "PUT", artifact("b"), "right");
  const ask = async (who: string) =>
    JSON.parse(
      (
        await as(who, "POST", "/turborepo/v8/artifacts?slug=farm", '{"hashes":["a","b"]}')
      ).body.toString(),
    ) as Record<string, unknown>;

  expect(await ask("pr")).toMatchObject({ a: { size: 6 }, b: { size: 5 } });
  expect(await ask("ci")).toMatchObject({ a: null, b: { size: 5 } });
});

test("the same name in two domains is two entries, of which each is forgotten alone", async () => {
  const path = "/gradle/0123";
  await as("pr", "PUT", path, "poison");
  await as("ci", "PUT", path, "right");
  await served.disk.remove(digestOf(Buffer.from("poison")));

  expect(await read("pr", path)).toBe(404);
  await served.caches.stop();
  expect(await read("pr", path)).toBe("right");
  expect(await read("ci", path)).toBe("right");
});
