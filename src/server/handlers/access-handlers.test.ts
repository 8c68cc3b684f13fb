import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CreatedToken, GrantRule, PrincipalRights } from "#api/access.ts";
import { AuditPage } from "#api/audit.ts";
import { Failure } from "#api/failure.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;
let admin: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-access-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
  // As on a new farm: a caller without a token creates the first one, and then closes the farm.
  admin = await tokenOf("root");
  await post("/grants", { principal: "root", verb: "*", top: true });
  await post("/grants/remove", { principal: "anyone", verb: "*" }, admin);
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** Unlike fetch it can send a header several times, and with any bytes. */
function send(
  method: string,
  path: string,
  headers: readonly string[],
  body?: unknown,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const host = new URL(server.url).host;
    const all = ["host", host, "content-type", "application/json", ...headers];
    const sent = request(`${server.url}/api/v1${path}`, { method, headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text,
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function post(path: string, body: unknown, token?: string): Promise<Answer> {
  const headers = token === undefined ? [] : ["authorization", `Bearer ${token}`];
  return send("POST", path, [...headers, "transfer-encoding", "chunked"], body);
}

async function tokenOf(principal: string, by?: string): Promise<string> {
  return CreatedToken.parse((await post("/tokens", { principal }, by)).body).token;
}

function messageIn({ body }: Answer): string {
  return Failure.parse(body).error.message;
}

describe("a header that is not one good token ends the request with 401, also where reading is free", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["of another farm", [`Bearer grange_${"x".repeat(43)}`], /does not know this token/],
    ["of another scheme", ["Basic eDp5"], /must be `Bearer ` and one token/],
    ["of nothing", [""], /must be `Bearer ` and one token/],
    ["with letters of elsewhere", [`Bearer grange_${"\u00e9".repeat(43)}`], /must be `Bearer `/],
    ["of 12,000 bytes", [`Bearer ${"g".repeat(12_000)}`], /must be `Bearer ` and one token/],
  ])("%s", async (_, values, message) => {
    const answer = await send(
      "GET",
      "/graphs",
      values.flatMap((value) => ["authorization", value]),
    );

    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(messageIn(answer)).toMatch(message);
  });

  test("a header that is larger than any may be is refused before it reaches us", async () => {
    const answer = await send("GET", "/graphs", ["authorization", `Bearer ${"g".repeat(100_000)}`]);

    expect(answer.status).toBe(431);
  });

  test("of two headers neither is chosen", async () => {
    const answer = await send("GET", "/caller", [
      "authorization",
      `Bearer grange_${"x".repeat(43)}`,
      "authorization",
      `Bearer ${admin}`,
    ]);

    expect(answer.status).toBe(401);
  });

  test("that was revoked names the token and what to do", async () => {
    const made = CreatedToken.parse((await post("/tokens", { principal: "gone" }, admin)).body);
    await send("GET", "/caller", ["authorization", `Bearer ${made.token}`]);

    await post(`/tokens/${made.id}/revoke`, {}, admin);
    const answer = await send("GET", "/caller", ["authorization", `Bearer ${made.token}`]);

    expect(answer.status).toBe(401);
    expect(messageIn(answer)).toMatch(
      new RegExp(`^token ${made.id} of gone was revoked at .*\`grange token create gone\``),
    );
  });
});

describe("who may not is told what is missing", () => {
  test.each<[string, string, unknown]>([
    ["POST", "/tokens", { principal: "mallory" }],
    ["POST", "/tokens/abc/revoke", {}],
    ["POST", "/grants", { principal: "mallory", verb: "*" }],
    ["POST", "/grants/remove", { principal: "root", verb: "*" }],
    ["POST", "/keys", { name: "k", publicKey: `ed25519:${"A".repeat(43)}` }],
    ["POST", "/keys/k/revoke", {}],
    ["GET", "/tokens", undefined],
  ])("%s %s needs the right to administer", async (method, path, body) => {
    const bob = await tokenOf("bob", admin);

    for (const token of [undefined, bob]) {
      const headers = token === undefined ? [] : ["authorization", `Bearer ${token}`];
      const chunked = body === undefined ? [] : ["transfer-encoding", "chunked"];
      const answer = await send(method, path, [...headers, ...chunked], body);

      expect(answer.status).toBe(403);
      expect(messageIn(answer)).toMatch(/may not administer on this farm.*grange grant add/);
    }
  });

  test("signing needs its own right", async () => {
    const signature = Buffer.alloc(64).toString("base64");
    const publicKey = `ed25519:${"A".repeat(43)}`;
    const body = { catalog: "abcd", publicKey, signature };

    const answer = await post("/signatures", body, await tokenOf("bob", admin));

    expect(answer.status).toBe(403);
    expect(messageIn(answer)).toContain("bob may not sign on this farm");
  });

  test("who may submit nowhere does not make the farm fetch a repository", async () => {
    const answer = await post("/graphs", { repository: "https://127.0.0.1:1/nothing.git" });

    expect(answer.status).toBe(403);
    expect(messageIn(answer)).toContain(
      "a caller without a token may not submit anywhere on this farm",
    );
  });
});

test("a grant holds from the next request on, and so does its end", async () => {
  const alice = await tokenOf("alice", admin);
  const asAlice = () => post("/grants", { principal: "carol", verb: "submit" }, alice);
  const before = await asAlice();

  await post("/grants", { principal: "alice", verb: "administer" }, admin);
  const meanwhile = await asAlice();
  await post("/grants/remove", { principal: "alice", verb: "administer" }, admin);
  const after = await asAlice();

  expect([before.status, meanwhile.status, after.status]).toEqual([403, 200, 403]);
});

test("everybody sees the own grants, and who administers all", async () => {
  await post(
    "/grants",
    { principal: "dora", verb: "submit", branch: "try*", priorityCap: 5 },
    admin,
  );
  const dora = await tokenOf("dora", admin);

  const own = await send("GET", "/grants", ["authorization", `Bearer ${dora}`]);
  const all = await send("GET", "/grants", ["authorization", `Bearer ${admin}`]);

  expect(GrantRule.array().parse(own.body)).toMatchObject([
    {
      principal: "dora",
      verb: "submit",
      repository: "*",
      branch: "try*",
      priorityCap: 5,
      top: false,
    },
  ]);
  expect(GrantRule.array().parse(all.body).length).toBeGreaterThan(1);
});

test("the audit log is read as a whole by who administers, a page at a time, and by nobody else", async () => {
  await post("/grants", { principal: "erin", verb: "submit" }, admin);
  await post("/grants", { principal: "erin", verb: "cancel" }, admin);
  const read = (query: string, token: string) =>
    send("GET", `/audit${query}`, ["authorization", `Bearer ${token}`]);

  const first = AuditPage.parse((await read("?verb=administer&limit=1", admin)).body);
  const second = AuditPage.parse(
    (await read(`?verb=administer&limit=1&before=${first.next}`, admin)).body,
  );

  const newest = [...first.entries, ...second.entries];
  expect(newest.map(({ actor, detail }) => [actor, detail["what"], detail["verb"]])).toEqual([
    ["root", "add grant", "cancel"],
    ["root", "add grant", "submit"],
  ]);
  expect((await read("?limit=0", admin)).status).toBe(400);
  expect(AuditPage.parse((await read("?actor=nobody", admin)).body)).toEqual({
    entries: [],
    next: null,
  });
  expect((await read("", await tokenOf("bob", admin))).status).toBe(403);
});

test.each([
  ["a year", {}, 366],
  ["what is asked for", { expiresInMs: 3_600_000 }, 1 / 24],
])("a token is good for %s", async (_, more, days) => {
  const before = Date.now();
  const { body } = await post("/tokens", { principal: "gil", ...more }, admin);
  const { expiresAt } = CreatedToken.parse(body);

  expect((Date.parse(expiresAt ?? "") - before) / 86_400_000).toBeCloseTo(days, 2);
});

test("a token is good for ever where that is asked for", async () => {
  const { body } = await post("/tokens", { principal: "gil", expiresInMs: null }, admin);

  expect(CreatedToken.parse(body).expiresAt).toBeNull();
});

test("what a principal may do in the end is told to itself and to who administers", async () => {
  await post("/grants", { principal: "fay", verb: "submit", repository: "web" }, admin);
  const fay = await tokenOf("fay", admin);
  const read = (name: string, token: string) =>
    send("GET", `/principals/${name}`, ["authorization", `Bearer ${token}`]);

  const own = PrincipalRights.parse((await read("fay", fay)).body);
  const seen = PrincipalRights.parse((await read("fay", admin)).body);

  expect(own).toMatchObject({ name: "fay", kind: "person", tokens: null, quarantine: null });
  expect(own.verbs).toContain("submit");
  expect(own.grants[0]).toMatchObject({ principal: "fay", verb: "submit", repository: "web" });
  expect(seen.tokens).toEqual([
    { id: expect.any(String), use: "calls", expiresAt: expect.any(String) },
  ]);
  expect((await read("root", fay)).status).toBe(403);
  const nobody = PrincipalRights.parse((await read("nobody", admin)).body);
  expect(nobody).toMatchObject({ kind: null, tokens: [] });
});

test.each(["Root", "ROOT", "Anyone"])(
  "%s is no other principal than it looks like",
  async (name) => {
    const token = await post("/tokens", { principal: name }, admin);
    const grant = await post("/grants", { principal: name, verb: "submit" }, admin);

    expect([token.status, grant.status]).toEqual([409, 409]);
    expect(messageIn(token)).toContain("differs only in upper and lower case");
  },
);

test.each<[string, unknown, string]>([
  ["/tokens", { principal: "no spaces" }, "a principal's name has"],
  ["/tokens", { principal: "anyone" }, "stands for callers without a token"],
  ["/tokens", { principal: "x", expiresInMs: 5 }, "expiresInMs"],
  ["/grants", { principal: "x", verb: "rule" }, "must be * or one of read, read-logs"],
  [
    "/grants",
    { principal: "x", verb: "administer", repository: "web" },
    "is a right on the whole farm",
  ],
  ["/grants", { principal: "x", verb: "sign", branch: "main" }, "is a right on the whole farm"],
  ["/grants", { principal: "x", verb: "submit", branch: "b".repeat(300) }, "at most 256"],
  ["/keys", { name: "x", publicKey: "ed25519:short" }, "as `grange key create` prints it"],
])("%s refuses %j with the reason", async (path, body, reason) => {
  const answer = await post(path, body, admin);

  expect(answer.status).toBe(400);
  expect(messageIn(answer)).toContain(reason);
});

test("the last administrator stays one", async () => {
  const answer = await post("/grants/remove", { principal: "root", verb: "*" }, admin);

  expect(answer.status).toBe(409);
  expect(messageIn(answer)).toContain("nobody could administer the farm");
});

describe("a preview on a closed farm", () => {
  const files = { definitions: { "a.yml": "version: 1\njobs: {a: {commands: x}}" } };

  test("of what is sent along is for everybody", async () => {
    expect((await post("/graphs/preview", files)).status).toBe(200);
  });

  test("of much that is sent along is for who may submit", async () => {
    const much = { definitions: { "a.yml": `${files.definitions["a.yml"]}${" ".repeat(17_000)}` } };

    expect((await post("/graphs/preview", much)).status).toBe(403);
    expect((await post("/graphs/preview", much, admin)).status).toBe(200);
  });

  test.each([
    { asked: { definitionsFrom: { kind: "directory", path: "/etc" } }, verb: "define" },
    { asked: { definitionsFrom: { kind: "repository", repository: "/srv/git" } }, verb: "submit" },
    { asked: { repository: "/srv/git", rev: "HEAD" }, verb: "submit" },
  ])(
    "neither reads the server's files nor fetches without the right to $verb",
    async ({ asked, verb }) => {
      const answer = await post("/graphs/preview", { ...asked, catalog: undefined });

      expect(answer.status).toBe(403);
      expect(JSON.stringify(answer.body)).toContain(`may not ${verb}`);
    },
  );
});
