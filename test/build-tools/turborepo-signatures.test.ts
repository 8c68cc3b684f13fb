import { createHmac, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aClosedFarm } from "#server/two-projects.fixture.ts";
import { needs } from "../support/needs/needs.ts";
import { runProgram } from "../support/process.ts";
import { fromNpm, nodeWorkspace, packages } from "./caches/node-workspace.ts";

const key = "a key of more than thirty-two bytes, as it should be";
const turbo = fromNpm("turbo");

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
let token: string;
let admin: string;
beforeAll(async () => {
  farm = await aClosedFarm();
  token = await farm.tokenOf("ci", ["cache"]);
  admin = await farm.tokenOf("ada", ["secret"]);
});
afterAll(() => farm?.stop());

const urlOf = (path: string) => `${farm.server.url.replace(/\/$/, "")}${path}`;

async function setKey(repository: string, value: string): Promise<void> {
  const secret = {
    name: "TURBO_REMOTE_CACHE_SIGNATURE_KEY",
    repository,
    branch: "*",
    users: null,
    value: Buffer.from(value).toString("base64"),
  };
  const { status } = await fetch(urlOf("/api/v1/secrets"), {
    method: "POST",
    headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
    body: JSON.stringify(secret),
  });
  expect(status).toBe(200);
}

/** Stores an artifact with a tag; returns the status and the answer's text. */
async function put(project: string, hash: string, tag?: string) {
  const answer = await fetch(urlOf(`/cache/${project}/turborepo/v8/artifacts/${hash}?teamId=t`), {
    method: "PUT",
    headers: {
      authorization: `Bearer ${token}`,
      ...(tag === undefined ? {} : { "x-artifact-tag": tag }),
    },
    body: "the bytes",
  });
  return { status: answer.status, text: await answer.text() };
}

async function statusOf(project: string, hash: string): Promise<number> {
  const url = urlOf(`/cache/${project}/turborepo/v8/artifacts/${hash}?teamId=t`);
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
}

function tagOf(by: string, hash: string, body = "the bytes"): string {
  const hmac = createHmac("sha256", by);
  for (const field of ["artifact-signature:v2", hash, "t", body]) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(field.length));
    hmac.update(length).update(field);
  }
  return hmac.digest("base64");
}

const newHash = () => randomBytes(8).toString("hex");

test("a project with a key accepts what is signed with it, and stores nothing else", async () => {
  const [project, other] = ["signed", "unsigned"];
  await setKey("sig*", key);
  const [right, none, wrong, moved] = [newHash(), newHash(), newHash(), newHash()];

  expect((await put(project, right, tagOf(key, right))).status).toBe(202);
  const unsigned = await put(project, none);
  const forged = await put(project, wrong, tagOf("another key, of somebody else", wrong));
  const elsewhere = await put(project, moved, tagOf(key, right));

  expect([unsigned.status, forged.status, elsewhere.status]).toEqual([403, 403, 403]);
  expect(unsigned.text).toContain("is not signed");
  expect(forged.text).toContain("does not match the key of signed");
  const hashes = [right, none, wrong, moved];
  expect(await Promise.all(hashes.map((hash) => statusOf(project, hash)))).toEqual([
    200, 404, 404, 404,
  ]);
  // Overwriting what is there needs the key, too.
  expect((await put(project, right, tagOf("another key, of somebody else", right))).status).toBe(
    403,
  );
  expect(await statusOf(project, right)).toBe(200);
  expect((await put(other, none)).status).toBe(202);
});

test("while a key changes, artifacts of both are accepted", async () => {
  await setKey("rotated", key);
  await setKey("rotate*", "the next key, also with more than 32 bytes");
  const [before, after] = [newHash(), newHash()];

  expect((await put("rotated", before, tagOf(key, before))).status).toBe(202);
  const next = tagOf("the next key, also with more than 32 bytes", after);
  expect((await put("rotated", after, next)).status).toBe(202);
});

test(
  "the real turbo stores with the key, and not with another one",
  needs(turbo.need),
  async () => {
    await setKey("real", key);
    const build = async (by: string) => {
      const dir = await mkdtemp(join(tmpdir(), "grange-turbo-"));
      try {
        await nodeWorkspace(dir);
        const file = join(dir, "turbo.json");
        const settings: object = JSON.parse(await readFile(file, "utf8"));
        await writeFile(file, JSON.stringify({ ...settings, remoteCache: { signature: true } }));
        const env = {
          TURBO_API: urlOf("/cache/real/turborepo"),
          TURBO_TOKEN: token,
          TURBO_TEAMID: "team_of_real",
          TURBO_TELEMETRY_DISABLED: "1",
          TURBO_REMOTE_CACHE_SIGNATURE_KEY: by,
          NO_COLOR: "1",
        };
        const { code, stdout } = await runProgram(turbo.path, ["run", "build"], { cwd: dir, env });
        return { code, hits: stdout.match(/:build: cache hit, /g)?.length ?? 0 };
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    };

    // Refused artifacts do not fail a build.
    const stranger = "a key of more than thirty-two bytes, of a stranger";
    expect(await build(stranger)).toEqual({ code: 0, hits: 0 });
    expect(await build(stranger)).toEqual({ code: 0, hits: 0 });
    expect(await build(key)).toEqual({ code: 0, hits: 0 });
    expect(await build(key)).toEqual({ code: 0, hits: packages.length });
  },
);
