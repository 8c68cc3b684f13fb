import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { type HeldJob, type HeldJobs, openHeldJobs } from "../support/held-jobs.ts";
import { curl } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const Name = z.object({ name: z.string() });

/** Jobs that report their variables and run until the test ends them. */
const definitions = (commands: string) => `
version: 1
jobs:
  caches:
    network: true
    caches: true
    inputs: [source.txt]
    commands: 'echo "the token is $GRANGE_JOB_TOKEN"; ${commands}'
  identity:
    network: true
    identity: [sts.example.com, npm]
    inputs: [source.txt]
    commands: '${commands}'
  plain:
    network: true
    inputs: [source.txt]
    commands: '${commands}'
`;

let farm: FarmHere;
let repository: SampleRepository;
let jobs: HeldJobs;

beforeAll(async () => {
  jobs = await openHeldJobs();
  farm = await startFarmHere({ workers: 0 });
  // As many as the runs of one test, which last until it ends them.
  await farm.startWorker({ slots: 3 });
  repository = await sampleRepository({ ".grange/farm.yml": definitions(jobs.commands) });
});
afterAll(async () => {
  await jobs?.stop();
  await farm?.stop();
  await repository?.remove();
});

/** Starts one job of a new commit, and waits until it runs. */
async function running(select: string, ref?: string) {
  const commit = await repository.commit({ "source.txt": `${Math.random()}\n` });
  const told = jobs.next();
  const graph = await farm.submit(
    { repository: repository.path, branch: "main", select },
    ref === undefined ? {} : { ref },
  );
  return { graph, commit, ...(await told) };
}

const bearer = (token: string | undefined) => ({ authorization: `Bearer ${token}` });
const call = async (url: string, init: RequestInit = {}) => {
  const answer = await fetch(url, init);
  return { status: answer.status, text: await answer.text() };
};

test(
  "a run uses the caches of its repository with a token that ends with it",
  needs(curl),
  async () => {
    const run = await running("caches");
    const cache = run.variables.get("GRANGE_CACHES");
    const token = run.variables.get("GRANGE_JOB_TOKEN");
    expect(cache).toMatch(new RegExp(`^${farm.url}/cache/[A-Za-z0-9._-]+$`));
    expect(token).toMatch(/^grange_job_/);
    expect(run.variables.has("GRANGE_IDENTITY_URL")).toBe(false);

    const entry = `${cache}/gradle/one`;
    const put = { method: "PUT", headers: bearer(token), body: "compiled" };
    expect((await call(entry, put)).status).toBe(200);
    expect((await call(entry, { headers: bearer(token) })).text).toBe("compiled");
    // Another project, and every other interface.
    expect((await call(`${farm.url}/cache/default/gradle/one`, put)).status).toBe(403);
    expect(
      (await call(`${farm.url}/cache/default/gradle/one`, { headers: bearer(token) })).status,
    ).toBe(403);
    expect((await call(`${farm.url}/api/v1/graphs`, { headers: bearer(token) })).status).toBe(401);
    // An identity needs a definition that asks for it.
    expect(
      (await call(`${farm.url}/identity/token?audience=npm`, { headers: bearer(token) })).status,
    ).toBe(403);

    run.end();
    await farm.over(run.graph);
    for (const init of [put, { headers: bearer(token) }]) {
      const { status, text } = await call(entry, init);
      expect([status, text]).toEqual([401, expect.stringContaining("its run has ended")]);
    }
    expect(await farm.log(run.graph, "caches")).toContain("the token is ***");
  },
);

test("a pull request's run writes what no other run reads", needs(curl), async () => {
  const pull = await running("caches", "refs/pull/7/head");
  const main = await running("caches");
  const other = await running("caches", "refs/pull/8/head");
  const entry = `${main.variables.get("GRANGE_CACHES")}/ccache/0a`;
  const as = (run: HeldJob) => bearer(run.variables.get("GRANGE_JOB_TOKEN"));
  const read = async (run: HeldJob) => (await call(entry, { headers: as(run) })).text.trim();

  await call(entry, { method: "PUT", headers: as(pull), body: "poison" });
  expect(await read(pull)).toBe("poison");
  expect(await read(main)).toBe("there is no such entry");
  expect(await read(other)).toBe("there is no such entry");
  await call(entry, { method: "PUT", headers: as(main), body: "right" });
  expect([await read(pull), await read(main), await read(other)]).toEqual([
    "poison",
    "right",
    "right",
  ]);

  for (const run of [pull, main, other]) run.end();
  await Promise.all([pull, main, other].map(({ graph }) => farm.over(graph)));
});

test("a job that requests nothing has no token", needs(curl), async () => {
  const run = await running("plain");

  expect([...run.variables.keys()]).toEqual([]);
  run.end();
  await farm.over(run.graph);
});

test("a token that somebody altered is not the farm's", needs(curl), async () => {
  const run = await running("caches");
  const token = run.variables.get("GRANGE_JOB_TOKEN") ?? "";
  const entry = `${run.variables.get("GRANGE_CACHES")}/gradle/two`;

  for (const at of [12, 40, token.length - 3]) {
    const letter = token[at] === "A" ? "B" : "A";
    const altered = token.slice(0, at) + letter + token.slice(at + 1);
    expect((await call(entry, { headers: bearer(altered) })).status).toBe(401);
  }
  run.end();
  await farm.over(run.graph);
});

test(
  "an identity is verified by an independent library, from the issuer's address alone",
  needs(curl),
  async () => {
    const run = await running("identity");
    const token = run.variables.get("GRANGE_JOB_TOKEN");
    const at = run.variables.get("GRANGE_IDENTITY_URL");
    expect(run.variables.has("GRANGE_CACHES")).toBe(false);
    const ask = (audience: string) =>
      call(`${at}?audience=${audience}`, { headers: bearer(token) });

    const { value } = JSON.parse((await ask("sts.example.com")).text) as { value: string };
    const { iss } = decodeJwt(value);
    const discovered = JSON.parse(
      (await call(`${iss}/.well-known/openid-configuration`)).text,
    ) as Record<string, string>;
    expect(discovered["issuer"]).toBe(iss);
    const keys = createRemoteJWKSet(new URL(String(discovered["jwks_uri"])));
    const { payload, protectedHeader } = await jwtVerify(value, keys, {
      issuer: farm.url,
      audience: "sts.example.com",
      algorithms: ["RS256"],
    });

    const { name } = (await farm.services.db.many(Name, sql`select name from repository`))[0] ?? {};
    expect(protectedHeader.typ).toBe("JWT");
    expect(payload).toMatchObject({
      sub: `repo:${name}:ref:refs/heads/main`,
      repository: name,
      ref: "refs/heads/main",
      ref_type: "branch",
      sha: run.commit,
      graph: run.graph,
      job: "identity",
      run_attempt: "1",
      actor: "anyone",
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(600);
    await expect(jwtVerify(value, keys, { audience: "npm" })).rejects.toThrow("aud");
    expect((await ask("other.example")).status).toBe(403);
    expect((await call(`${at}?audience=npm`)).status).toBe(401);

    run.end();
    await farm.over(run.graph);
    expect((await ask("npm")).status).toBe(401);
  },
);

test("a pull request gets no identity: its run ends with the reason", async () => {
  await repository.commit({ "source.txt": "of a stranger\n" });
  const graph = await farm.submit(
    { repository: repository.path, branch: "main", select: "identity" },
    { ref: "refs/pull/9/head" },
  );
  await farm.over(graph);

  const { runList } = await farm.job(graph, "identity");
  expect(runList[0]?.message).toContain("only runs in protected domains");
});
