import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silent } from "#execution/execution.fixture.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { type TestAuthority, testAuthority } from "../../test/support/test-authority.ts";
import { testCertificate } from "../../test/support/test-certificate.ts";
import { readServerConfig } from "./config.ts";
import { type RunningServer, startServer } from "./start-server.ts";

interface Pair {
  readonly cert: string;
  readonly key: string;
}

let directory: string;
let server: RunningServer;
let trusted: string;
let root: string;

let authorities: Readonly<Record<"ours" | "theirs", TestAuthority>>;

/** A certificate for a subject, signed by an authority. */
async function issue(
  by: "ours" | "theirs",
  subject: string,
  extensions: readonly string[] = [],
  days = 1,
): Promise<Pair> {
  const { cert, key } = await authorities[by].issue(subject, { extensions, days });
  return { cert: await readFile(cert, "utf8"), key: await readFile(key, "utf8") };
}

/** Returns the principal that the farm recognises over HTTP. */
async function callerWith(pair: Partial<Pair>, headers: Record<string, string> = {}) {
  const asked = request(`${server.url.replace(/\/$/, "")}/api/v1/caller`, {
    ca: trusted,
    agent: false,
    headers,
    ...pair,
  });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-mtls-"));
  const own = await testCertificate(directory);
  trusted = await readFile(own.cert, "utf8");
  const [ours, theirs] = await Promise.all([
    testAuthority(directory, "ours"),
    testAuthority(directory, "theirs"),
  ]);
  authorities = { ours, theirs };
  server = await startServer(
    readServerConfig(
      {
        dataDir: join(directory, "data"),
        port: 0,
        databaseUrl: await freshDatabase(),
        tlsCert: own.cert,
        tlsKey: own.key,
        clientCa: join(directory, "ours.crt"),
        close: true,
      },
      {},
    ),
    silent,
  );
  root = (await readFile(join(directory, "data", "owner-token"), "utf8")).trim();
  for (const principal of ["attic", "barn"]) {
    const asked = request(`${server.url.replace(/\/$/, "")}/api/v1/enrolments`, {
      ca: trusted,
      agent: false,
      method: "POST",
      headers: { authorization: `Bearer ${root}`, "content-type": "application/json" },
    });
    asked.end(JSON.stringify({ principal, kind: "worker", pool: "default" }));
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    if (response.statusCode !== 201) throw new Error(await text(response));
    response.resume();
  }
});
afterAll(async () => {
  await server?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function registering(pair: Partial<Pair>, pool?: string): Promise<string> {
  const channel = new GrpcChannel({ url: server.url, tls: { ca: trusted, ...pair } });
  const platform: Record<string, string> = pool === undefined ? {} : { pool };
  const answer = await channel
    .unary(Workers.method.register, {
      name: `w-${randomUUID()}`,
      instanceId: randomUUID(),
      platform,
      sizeClass: 1,
      slots: 1,
      transport: "pull",
    })
    .then(
      () => "registered",
      (reason: { code: string }) => reason.code,
    );
  await channel.stop();
  return answer;
}

test("a machine is who its certificate says, over HTTP and gRPC, with its grants and no more", async () => {
  const attic = await issue("ours", "/O=Us/CN=attic");

  expect(JSON.parse((await callerWith(attic)).body)).toMatchObject({
    name: "attic",
    kind: "worker",
    grants: [
      { verb: "read" },
      { verb: "read-logs" },
      { verb: "read-sources" },
      { verb: "work", pool: "default" },
    ],
  });
  expect(await registering(attic)).toBe("registered");
  expect(await registering(attic, "release")).toBe("permission_denied");
});

test("who shows none is let in as far as its token reaches", async () => {
  expect(JSON.parse((await callerWith({})).body)).toMatchObject({ name: "anyone" });
  expect(
    JSON.parse((await callerWith({}, { authorization: `Bearer ${root}` })).body),
  ).toMatchObject({ name: "owner" });
  expect(await registering({})).toBe("permission_denied");
});

test("where both are sent, the token says who asks", async () => {
  const barn = await issue("ours", "/CN=barn");

  const asked = await callerWith(barn, { authorization: `Bearer ${root}` });

  expect(JSON.parse(asked.body)).toMatchObject({ name: "owner" });
});

test.each([
  ["that names a person", "/CN=owner"],
  ["that names nobody known", "/CN=somebody"],
  ["that names `anyone`", "/CN=anyone"],
  ["that names the header's trick", "/CN=attic\\, CN=owner"],
])("a certificate of our authority %s is refused", async (_, subject) => {
  const pair = await issue("ours", subject);

  expect((await callerWith(pair)).status).toBe(401);
  expect(await registering(pair)).toBe("unauthenticated");
});

test.each<[string, "ours" | "theirs", string, readonly string[], number, string]>([
  ["of another authority", "theirs", "/CN=attic", [], 1, "not from an authority that this farm"],
  ["that is over", "ours", "/CN=attic", [], -1, "expired on"],
  ["for servers only", "ours", "/CN=attic", ["extendedKeyUsage=serverAuth"], 1, "not for clients"],
  ["without a common name", "ours", "/O=attic", [], 1, "no common name"],
  ["with two common names", "ours", "/CN=attic/CN=barn", [], 1, "or several"],
])("a certificate %s is refused with the reason", async (_, by, subject, extra, days, why) => {
  const pair = await issue(by, subject, extra, days);

  const alone = await callerWith(pair);
  expect(alone.status).toBe(401);
  expect(alone.body).toContain(why);
  // A token in the same request does not change this.
  expect((await callerWith(pair, { authorization: `Bearer ${root}` })).status).toBe(401);
  expect(await registering(pair)).toBe("unauthenticated");
});

test("a machine that lost its grants is refused at the next call, however long its certificate is good", async () => {
  const barn = await issue("ours", "/CN=barn");
  const before = await registering(barn);
  const asked = request(`${server.url.replace(/\/$/, "")}/api/v1/grants/remove`, {
    ca: trusted,
    agent: false,
    method: "POST",
    headers: { authorization: `Bearer ${root}`, "content-type": "application/json" },
  });
  asked.end(JSON.stringify({ principal: "barn", verb: "work" }));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();

  expect([before, await registering(barn)]).toEqual(["registered", "permission_denied"]);
});

test("an authority that cannot be read, or comes without TLS, stops the start", async () => {
  const nothing = join(directory, "nothing.crt");
  await writeFile(nothing, "no certificate");
  const own = { tlsCert: join(directory, "ours.crt"), tlsKey: join(directory, "ours.key") };
  const start = (told: object) =>
    startServer(
      readServerConfig({ dataDir: join(directory, "none"), port: 0, ...told }, {}),
      silent,
    );

  await expect(start({ ...own, clientCa: nothing })).rejects.toThrow("holds no certificate");
  await expect(start({ clientCa: nothing })).rejects.toThrow("--client-ca needs TLS");
});
