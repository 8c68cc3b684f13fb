import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ForgeRepositories, ForgeRepository, ForgeRepositoryDetail } from "#api/forge.ts";
import { GraphSummary } from "#api/graph.ts";
import { runPlainGit, testRepository } from "#git/repository.fixture.ts";
import { askServer } from "../../../test/support/ask-server.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

/** Two servers of one farm; both watch. */
const databaseUrl = await freshDatabase();
let dataDir: string;
let servers: RunningServer[];

// Several servers and real Git run at the same time, which is slow on a busy machine.

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-plain-git-"));
  const start = async (name: string) => {
    const farmKey = join(dataDir, "farm.key");
    const config = readServerConfig(
      {
        dataDir: join(dataDir, name),
        blobs: join(dataDir, "blobs"),
        databaseUrl,
        farmKey,
        port: 0,
        host: "127.0.0.1",
        forgeTimes: { pollMs: 1_000 },
      },
      {},
    );
    return startServer(config, pino({ level: "silent" }));
  };
  servers = [await start("one"), await start("two")];
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  await rm(dataDir, { recursive: true });
});

const ask = (method: string, path: string, body?: unknown) =>
  askServer(servers[0] ?? { url: "" }, method, path, body);

const detailOf = async (repository: string) => {
  const named = new URLSearchParams({ repository }).toString();
  return ForgeRepositoryDetail.parse((await ask("GET", `/forge/repository?${named}`)).body);
};

/** The API has no stream of this; the test waits for a check that each server makes once a second. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const give = Date.now() + 60_000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > give) throw new Error("it did not come about");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const graphsOf = async (repository: string) => {
  const { body } = await ask("GET", `/graphs?${new URLSearchParams({ repository }).toString()}`);
  return z.array(GraphSummary).parse((body as { graphs?: unknown }).graphs ?? body);
};

const definitions = { ".grange/jobs.yml": "version: 1\njobs:\n  a: {commands: 'true'}\n" };

function bareRemote() {
  const work = testRepository(dataDir);
  work.write(definitions);
  const first = work.commit("Begin");
  work.git("tag", "old", first);
  const remote = join(work.path, "..", `${work.path.split("/").at(-1)}.git`);
  runPlainGit(work.path, "clone", "--quiet", "--bare", work.path, remote);
  work.git("remote", "add", "origin", remote);
  return { work, remote, first };
}

test("a push to a watched repository gets one graph, whichever server sees it", async () => {
  const { work, remote, first } = bareRemote();

  const added = await ask("POST", "/forge/repositories", { kind: "git", slug: remote });
  const { name } = ForgeRepository.parse(added.body);
  await until(async () => ((await graphsOf(name)).length === 1 ? true : undefined));
  work.write({ "a.txt": "2" });
  const second = work.commit("Second");
  work.git("tag", "v1");
  work.git("push", "--quiet", "origin", "main", "v1");
  await until(async () => ((await graphsOf(name)).length >= 3 ? true : undefined));
  await until(async () => {
    const { heads } = await detailOf(name);
    return heads.filter(({ graph }) => graph !== null).length === 2 ? true : undefined;
  });

  const graphs = await graphsOf(name);
  expect(added.status).toBe(201);
  expect(
    graphs
      .map(({ commit, branch, submittedBy }) => [commit, branch, submittedBy].join(" "))
      .toSorted(),
  ).toEqual([`${first} main forge`, `${second}  forge`, `${second} main forge`].toSorted());
  const { heads, error } = await detailOf(name);
  expect(error).toBeNull();
  expect(heads.map(({ ref, head }) => [ref, head])).toEqual(
    expect.arrayContaining([
      ["refs/heads/main", second],
      ["refs/tags/old", first],
      ["refs/tags/v1", second],
    ]),
  );
});

test("a commit whose definitions are wrong says so, and the next one is made", async () => {
  const { work, remote } = bareRemote();
  const added = await ask("POST", "/forge/repositories", { kind: "git", slug: remote });
  const { name } = ForgeRepository.parse(added.body);
  await until(async () => ((await graphsOf(name)).length === 1 ? true : undefined));

  work.write({ ".grange/jobs.yml": "version: 1\njobs: {a: {commandos: x}}\n" });
  work.commit("Break");
  work.git("push", "--quiet", "origin", "main");
  const broken = await until(async () => {
    const [main] = (await detailOf(name)).heads;
    return main?.problem === null ? undefined : main;
  });
  work.write(definitions);
  const mended = work.commit("Mend");
  work.git("push", "--quiet", "origin", "main");
  const [main] = await until(async () => {
    const { heads } = await detailOf(name);
    return heads[0]?.graph === null ? undefined : heads;
  });

  expect(broken?.problem).toContain("commandos");
  expect(main).toMatchObject({ head: mended, problem: null });
});

test("what cannot be read is not watched, and one is watched once", async () => {
  const { remote } = bareRemote();
  const gone = await ask("POST", "/forge/repositories", {
    kind: "git",
    slug: join(dataDir, "gone"),
  });
  await ask("POST", "/forge/repositories", { kind: "git", slug: remote });
  const twice = await ask("POST", "/forge/repositories", { kind: "git", slug: remote });
  const github = await ask("POST", "/forge/repositories", { kind: "github", slug: "a/b" });
  const hostile = await ask("POST", "/forge/repositories", { kind: "git", slug: "ext::sh -c id" });

  const { repositories } = ForgeRepositories.parse((await ask("GET", "/forge/repositories")).body);
  expect([gone.status, twice.status, github.status, hostile.status]).toEqual([404, 409, 409, 400]);
  expect(repositories.filter(({ url }) => url === remote)).toHaveLength(1);
});

test("a repository that goes away says why, and is found again when it is back", async () => {
  const { work, remote } = bareRemote();
  const { name } = ForgeRepository.parse(
    (await ask("POST", "/forge/repositories", { kind: "git", slug: remote })).body,
  );
  await until(async () => ((await graphsOf(name)).length === 1 ? true : undefined));

  await rename(remote, `${remote}.away`);
  const error = await until(async () => (await detailOf(name)).error ?? undefined);
  await rename(`${remote}.away`, remote);
  work.write({ "b.txt": "1" });
  const next = work.commit("Next");
  work.git("push", "--quiet", "origin", "main");
  await until(async () =>
    (await graphsOf(name)).some(({ commit }) => commit === next) ? true : undefined,
  );

  expect(error).toContain("does not exist");
});
