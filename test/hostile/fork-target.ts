import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Principal } from "#access/principal.ts";
import type { Run } from "#api/graph.ts";
import type { GraphOrigin } from "#graphs/submitting/submission.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";
import type { HostileCase } from "./case.ts";

/** A closed farm with a worker, a trusted repository, and a user who may only open pull requests. */
export interface Fork {
  readonly farm: FarmHere;
  readonly repository: SampleRepository;
  readonly mallory: Readonly<Record<string, string>>;
  /** Submits a graph of the main branch, as a user with permission. */
  readonly onMain: (jobs: object, more?: object) => Promise<string>;
  /** Submits a graph of a fork's pull request, as the farm does itself. */
  readonly onPull: (
    jobs: object,
    more?: { readonly pull?: number; readonly rules?: boolean },
  ) => Promise<string>;
  readonly run: (graph: string, job?: string) => Promise<Run>;
}
export type ForkCase = HostileCase<Fork>;

export const root: Principal = {
  name: "root",
  grants: [{ verb: "*", repository: "*", branch: "*", priorityCap: null, top: true }],
};
/** The principal of forges: it has only the default permissions. */
export const forge: Principal = {
  name: "forge",
  grants: [{ verb: "submit", repository: "*", branch: "*", priorityCap: 0, top: false }],
};
/** The limits of the default policy for forks. */
export const outsiders = { network: false, platform: { OSFamily: ["*"], ISA: ["*"] } };
const secret = "what-only-main-may-know-4711";

export const definitionsOf = (job: string) =>
  `version: 1\njobs: { ${job}: { commands: "true", inputs: [] } }\n`;

/** Makes a commit on another branch than main, with other definitions; returns its id. */
export async function commitAside(
  repository: SampleRepository,
  definitions: string,
): Promise<string> {
  const git = (...args: string[]) => repository.git(...args);
  const aside = await mkdtemp(join(tmpdir(), "grange-fork-"));
  try {
    await git("worktree", "add", "--quiet", "--detach", join(aside, "tree"));
    const tree = join(aside, "tree");
    await writeFile(join(tree, ".grange", "farm.yml"), definitions);
    await git("-C", tree, "commit", "--quiet", "--all", "-m", "Theirs");
    return await git("-C", tree, "rev-parse", "HEAD");
  } finally {
    await git("worktree", "remove", "--force", join(aside, "tree"));
    await rm(aside, { recursive: true, force: true });
  }
}

export async function openFork() {
  const farm = await startFarmHere({ workers: 0, keepsCluster: true });
  const repository = await sampleRepository({
    "source.txt": "as it is on main\n",
    ".grange/farm.yml": definitionsOf("own"),
  });
  const tokenOf = async (principal: string) => {
    const made = (await (await farm.ask("/tokens", { principal })).json()) as { token: string };
    return made.token;
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const [rootToken, workers, mallory] = await Promise.all(
    ["root", "worker", "mallory"].map(tokenOf),
  );
  const granted = async (path: string, body: object, headers = {}) => {
    const answer = await farm.ask(path, body, headers);
    assert.equal(answer.status, 200, await answer.text());
  };
  await granted("/grants", { principal: "root", verb: "*", top: true });
  await granted("/grants", { principal: "worker", verb: "work" });
  const value = Buffer.from(secret).toString("base64");
  await granted("/secrets", { name: "MAINS", repository: "*", branch: "*", users: "*", value });
  await granted("/grants/remove", { principal: "anyone", verb: "*" }, bearer(rootToken ?? ""));
  await farm.startWorker({ slots: 4, ...(workers === undefined ? {} : { token: workers }) });

  const asked = (jobs: object, more: object) => ({
    repository: repository.path,
    definitions: { "farm.yml": JSON.stringify({ version: 1, jobs }).replaceAll("${", () => "$${") },
    ...more,
  });
  const target: Fork = {
    farm,
    repository,
    mallory: bearer(mallory ?? ""),
    onMain: (jobs, more = {}) => farm.submit(asked(jobs, { branch: "main", ...more }), {}, root),
    onPull(jobs, { pull = 7, rules = true } = {}) {
      const origin: GraphOrigin = {
        ref: `refs/pull/${pull}/head`,
        ...(rules ? { outsiders } : {}),
      };
      return farm.submit(asked(jobs, {}), origin, forge);
    },
    async run(graph, job = "a") {
      await farm.over(graph);
      const run = (await farm.job(graph, job)).runList.at(-1);
      assert(run, `${job} has no run`);
      return run;
    },
  };
  return {
    target,
    async stop() {
      await farm.stop();
      await repository.remove();
    },
  };
}

/** A job that differs from all others: no result of another case fits it. */
export const fresh = (commands: string | readonly string[], more: object = {}) => ({
  a: { commands, inputs: [], outputs: ["out"], environment: { CASE: randomUUID() }, ...more },
});
export const outputOf = (run: Run) =>
  String(run.outputs.find(({ path }) => path === "out")?.digest);
export const random = "cat /proc/sys/kernel/random/uuid > out";

/** A case in which the run of a pull request tries something without success. */
export function tries(
  name: string,
  commands: string | readonly string[],
  never: RegExp,
  more = {},
): ForkCase {
  return {
    name,
    async run(fork) {
      const list = typeof commands === "string" ? [commands] : commands;
      const script = ["set +eu", ...list, "echo tried all > out"];
      const graph = await fork.onPull(fresh(script, more));
      const run = await fork.run(graph);
      const log = await fork.farm.log(graph, "a");
      const printed = log.split("\n").filter((line) => !/^(\$| {2})/.test(line));
      assert.equal(run.outcome, "succeeded", `${run.message} ${log}`);
      assert.doesNotMatch(printed.join("\n"), never);
    },
  };
}

/** Definitions for which the farm makes no graph, and a reason. */
export function refused(name: string, jobs: object, says: RegExp): ForkCase {
  return {
    name,
    async run({ onPull }) {
      await assert.rejects(onPull(jobs), (fault: Error & { problems?: unknown }) => {
        assert.match(`${fault.message} ${JSON.stringify(fault)}`, says);
        return true;
      });
    },
  };
}
