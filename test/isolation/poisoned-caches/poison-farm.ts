import assert from "node:assert/strict";
import { z } from "zod";
import type { Principal } from "#access/principal.ts";
import { sql } from "#db/sql.ts";
import { type FarmHere, startFarmHere } from "../../support/farm-here.ts";
import { openHeldJobs } from "../../support/held-jobs.ts";
import { sampleRepository } from "../../support/sample-repository.ts";

/** Where a tool writes, and with which token. */
export interface Access {
  /** The address of the caches of a project, without a slash at its end. */
  readonly cache: string;
  readonly token: string;
}

/** Those who try to change what protected builds read. */
export type Attacker = "pull request" | "other project" | "expired job token";
export const attackers: readonly Attacker[] = [
  "pull request",
  "other project",
  "expired job token",
];

/** A closed farm with a repository, a CI that it trusts, and the three attackers. */
export interface PoisonFarm {
  readonly farm: FarmHere;
  /** The CI of protected branches: a principal with `cache`. */
  readonly ci: Access;
  /** A running job of the protected branch. */
  readonly main: Access;
  readonly attackers: Readonly<Record<Attacker, Access>>;
  /** Returns how many entries the project has, in all domains. */
  readonly entries: () => Promise<number>;
  /** Removes them: a tool makes the same keys each time. */
  readonly clear: () => Promise<void>;
  stop(): Promise<void>;
}

const root: Principal = {
  name: "root",
  grants: [{ verb: "*", repository: "*", branch: "*", priorityCap: null, top: true }],
};

export async function openPoisonFarm(): Promise<PoisonFarm> {
  const jobs = await openHeldJobs();
  const farm = await startFarmHere({ workers: 0 });
  const repository = await sampleRepository({
    ".grange/farm.yml": `version: 1
jobs:
  build: { network: true, caches: true, inputs: [source.txt], commands: '${jobs.commands}' }
`,
  });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const tokenOf = async (principal: string) =>
    ((await (await farm.ask("/tokens", { principal })).json()) as { token: string }).token;
  const granted = async (path: string, body: object, headers = {}) => {
    const answer = await farm.ask(path, body, headers);
    assert.equal(answer.status, 200, await answer.text());
  };

  /** Starts a job of a new commit; it runs until the farm stops, or `end` is called. */
  async function runningJob(ref?: string) {
    await repository.commit({ "source.txt": `${Math.random()}\n` });
    const told = jobs.next();
    const graph = await farm.submit(
      { repository: repository.path, branch: "main" },
      ref === undefined ? {} : { ref },
      root,
    );
    const { variables, end } = await told;
    const access: Access = {
      cache: variables.get("GRANGE_CACHES") ?? "",
      token: variables.get("GRANGE_JOB_TOKEN") ?? "",
    };
    return {
      access,
      async over() {
        end();
        await farm.over(graph);
      },
    };
  }

  const [rootToken = "", worker = "", ci = "", mallory = ""] = await Promise.all(
    ["root", "worker", "ci", "mallory"].map(tokenOf),
  );
  await granted("/grants", { principal: "root", verb: "*", top: true });
  await granted("/grants", { principal: "worker", verb: "work" });
  await granted("/grants", { principal: "mallory", verb: "cache", repository: "mallory*" });
  await granted("/grants/remove", { principal: "anyone", verb: "*" }, bearer(rootToken));
  await farm.startWorker({ slots: 3, token: worker });

  const [main, pull, past] = [
    await runningJob(),
    await runningJob("refs/pull/7/head"),
    await runningJob(),
  ];
  await past.over();
  const { cache } = main.access;
  const project = decodeURIComponent(new URL(cache).pathname.slice("/cache/".length));
  await granted(
    "/grants",
    { principal: "ci", verb: "cache", repository: project },
    bearer(rootToken),
  );
  return {
    farm,
    ci: { cache, token: ci },
    main: main.access,
    attackers: {
      "pull request": pull.access,
      "other project": { cache, token: mallory },
      "expired job token": past.access,
    },
    async entries() {
      const [row] = await farm.services.db.many(
        Count,
        sql`select count(*)::integer as count from cache_entry where project = ${project}`,
      );
      return row?.count ?? 0;
    },
    async clear() {
      await farm.services.db.run(sql`delete from cache_entry where project = ${project}`);
    },
    async stop() {
      await Promise.all([main.over(), pull.over()]);
      await farm.stop();
      await jobs.stop();
      await repository.remove();
    },
  };
}

const Count = z.object({ count: z.number() });
