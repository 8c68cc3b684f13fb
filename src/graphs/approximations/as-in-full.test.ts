import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import type { Digest } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { type Answer, farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import type { GraphId } from "../graph-id.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** A commit: some files, the input of the finder, and the definitions of the jobs. */
interface Commit {
  readonly files: Readonly<Record<string, string>>;
  readonly wanted: readonly string[];
  readonly finds: string;
  readonly finderReads: string;
  readonly mayRead: string;
  readonly builds: string;
  /** Whether it waits for another job, too; and whether the finder's earlier results are removed. */
  readonly needs: string;
  readonly forgets: boolean;
}

const text = fc.constantFrom("1", "2");
const commit: fc.Arbitrary<Commit> = fc.record({
  files: fc.record({ a: text, b: text, lib: text, "deep/c": text }),
  wanted: fc.oneof(
    { weight: 3, arbitrary: fc.subarray(["src/a", "src/b", "src/deep", "src/*"]) },
    { weight: 1, arbitrary: fc.subarray(["src/a", "lib", "src/none"]) },
  ),
  finds: fc.constantFrom("what is wanted", "what is wanted", "all that it sees"),
  finderReads: fc.constantFrom('["src/**", wanted]', '["src/**", wanted]', '["**"]'),
  mayRead: fc.constantFrom('["src/**"]', '["src/**"]', '["src/*"]'),
  builds: fc.constantFrom("1", "1", "2"),
  needs: fc.constantFrom("", "", "needs: [build], "),
  forgets: fc.boolean(),
});

/** Mostly like the one before: that is when something is known. */
const history = fc
  .array(
    fc.tuple(commit, fc.subarray(["files", "wanted", "finds", "finderReads", "builds"] as const)),
    {
      minLength: 3,
      maxLength: 5,
    },
  )
  .map((steps) =>
    steps.reduce<Commit[]>((commits, [next, changed]) => {
      const last = commits.at(-1) ?? next;
      const changes = Object.fromEntries(changed.slice(0, 1).map((key) => [key, next[key]]));
      return [...commits, { ...last, ...changes }];
    }, []),
  );

/**
 * The same twice, except for a file that no job reads: the result of the second is always known.
 */
const quiet: Commit = {
  files: { a: "1", b: "1", lib: "1", "deep/c": "1" },
  wanted: ["src/a"],
  finds: "what is wanted",
  finderReads: '["src/**", wanted]',
  mayRead: '["src/**"]',
  builds: "1",
  needs: "",
  forgets: false,
};

test("for any history, the result that is known ahead equals the result of a full run", async () => {
  let known = 0;
  await fc.assert(
    fc.asyncProperty(history, async (commits) => {
      const mark = randomUUID();
      for (const each of commits) {
        write(each, mark);
        if (each.forgets) await forgetFinders();
        const ahead = await farm.submit();
        await farm.work(worker);
        const full = await farm.submit({ skipCache: true });
        await farm.work(worker);
        const [one, other] = [await ended(ahead.id), await ended(full.id)];
        expect({ ...one, message: null }).toEqual({ ...other, message: null });
        if (one.message?.startsWith("known before")) known++;
      }
    }),
    { numRuns: 8, examples: [[[quiet, quiet]], [[quiet, { ...quiet, forgets: true }]]] },
  );
  expect(known).toBeGreaterThanOrEqual(2);
});

function write(
  { files, wanted, finds, finderReads, mayRead, builds, needs }: Commit,
  mark: string,
) {
  const { lib, ...below } = files;
  farm.repository.write({
    lib: lib ?? "",
    wanted: wanted.join("\n"),
    builds,
    ...Object.fromEntries(Object.entries(below).map(([name, inIt]) => [`src/${name}`, inIt])),
    unrelated: randomUUID(),
    ".grange/jobs.yml": `version: 1
jobs:
  build: {commands: "build ${mark}", inputs: [builds], outputs: app}
  find: {commands: "find ${finds} ${mark}", inputs: ${finderReads}, outputs: list}
  use:
    {commands: "use ${mark}", inputs: [wanted], inputs-from: {job: find, output: list}, may-read: ${mayRead},
     ${needs}outputs: out}
`,
  });
  farm.repository.commit("Change");
}

/** Each command makes what follows from what it sees. */
async function worker(script: string, _: string, root: Digest | undefined): Promise<Answer> {
  const seen = root === undefined ? {} : await filesIn(root, "");
  const all = digestOf(Buffer.from(JSON.stringify([script, seen]))).hash;
  if (script.includes("build ")) return { outputs: { app: String(seen["builds"]) } };
  if (script.includes("use ")) return { outputs: { out: all } };
  const names = Object.keys(seen).filter((path) => path.startsWith("src/"));
  return {
    outputs: { list: script.includes("all that") ? names.join("\n") : (seen["wanted"] ?? "") },
  };
}

async function filesIn(root: Digest, at: string): Promise<Record<string, string>> {
  const directory = decodeDirectory((await farm.store.get(root)) ?? new Uint8Array());
  const files: Record<string, string> = {};
  for (const { name, digest } of directory.files) {
    const bytes = await farm.store.get(fromDigestMessage(digest, name));
    files[`${at}${name}`] = Buffer.from(bytes ?? []).toString();
  }
  for (const { name, digest } of directory.directories)
    Object.assign(files, await filesIn(fromDigestMessage(digest, name), `${at}${name}/`));
  return files;
}

async function forgetFinders(): Promise<void> {
  await db.run(sql`
    delete from action_result where action_digest in (select action_digest from run where job = 'find')
  `);
}

const Ended = z.object({
  action: z.string().nullable(),
  yield: z.string().nullable(),
  message: z.string().nullable(),
});

async function ended(id: GraphId) {
  const [row] = await db.many(
    Ended,
    sql`select action_digest as action, yield, message from run where graph_id = ${id} and job = 'use'`,
  );
  if (row === undefined) throw new Error("it did not run");
  return row;
}
