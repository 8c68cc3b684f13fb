import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { revokeKey } from "#access/trust-keys.ts";
import type { BranchBody } from "#api/branch.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { setBranchDefinition } from "../catalogs/branch-definition.store.ts";
import { signCatalog } from "../catalogs/sign-catalog.fixture.ts";
import { GraphId } from "../graph-id.ts";
import { nameRepository } from "../repository.store.ts";
import { farmOfReruns } from "./farm-of-reruns.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});
afterEach(() => say(null));

async function say(body: BranchBody | null): Promise<void> {
  const repository = await db.transaction((tx) => nameRepository(tx, farm.repository.path));
  const said = {
    repository,
    branch: "main",
    body,
    setBy: "root",
    why: undefined,
    after: undefined,
  };
  await db.transaction((tx) => setBranchDefinition(tx, said));
}

/** Signs the catalog that a refusal names; throws when nothing is refused. */
async function signWhatIsRefused(key: string, asked: () => Promise<unknown>): Promise<void> {
  const refusal = await asked().then(
    () => "",
    (reason: Error) => reason.message,
  );
  const [, catalog] = /`grange sign (\S+) --key FILE`/.exec(refusal) ?? [];
  if (catalog === undefined) throw new Error(`no catalog is named: ${refusal}`);
  await signCatalog(db, key, catalog);
}

const jobs = (more = "") => `  a: {commands: 'run-a # MARK'${more}}`;

describe("a branch that has become protected", () => {
  test("runs nothing more of an older graph until its definitions are signed", async () => {
    const id = await farm.graphOf(jobs());
    await farm.work();
    await say({ protected: true });

    const again = () => farm.again(id, { jobs: ["a"] });
    await expect(farm.again(id, { jobs: ["a"], dryRun: true })).rejects.toThrow("is now protected");
    await signWhatIsRefused("older", again);

    expect((await again())?.applied).toBe(true);
    await farm.work();
    await db.transaction((tx) => revokeKey(tx, "older", { by: "root", now: new Date() }));
    await expect(again()).rejects.toThrow("no trusted key has signed");
  });

  test("runs no customised job, and names the command that removes the customisation", async () => {
    const id = await farm.graphOf(jobs());
    await farm.customise(id, { job: "a", patch: { timeout: "2h" } });
    await farm.work();
    await say({ protected: true });

    await expect(farm.again(id, { jobs: ["a"] })).rejects.toThrow(
      `\`grange customise ${id.slice(0, 8)} a --remove --retrigger\``,
    );

    const usual = { job: "a", patch: null, retrigger: true };
    await signWhatIsRefused("usual", () => farm.customise(id, { ...usual, dryRun: true }));
    expect((await farm.customise(id, { ...usual, dryRun: true }))?.rerun?.jobs).toHaveLength(1);
    expect((await farm.customise(id, usual))?.rerun?.applied).toBe(true);
  });
});

describe("a clone on a protected branch", () => {
  test.each(["as-it-ran", "uncustomised", "today"] as const)(
    "%s is of signed templates",
    async (mode) => {
      await say({ protected: true });
      const written = jobs(", inputs: []").replace("MARK", `${randomUUID()} \${commit.sha}`);
      const submit = () => farm.graphOf(written);
      await signWhatIsRefused(`clone-${mode}`, submit);
      const original = await farm.submit();

      const cloned = await farm.clone(original.id, { mode });

      expect(cloned?.applied).toBe(true);
    },
  );

  test("keeps no values that its branch does not set, except for a principal with `define`", async () => {
    const parameters = "parameters: {target: {default: staging}}";
    farm.repository.write({
      ".grange/jobs.yml": `version: 1\n${parameters}\njobs:\n  a: {commands: 'deploy \${parameters.target}', inputs: []} # ${randomUUID()}`,
    });
    farm.repository.commit("Change");
    const id = GraphId.parse((await farm.submit({ parameters: { target: "x; evil" } })).id);
    await say({ protected: true });
    const grant = { repository: "*", branch: "*", priorityCap: null, top: false };
    const cloner = { name: "carol", grants: [{ ...grant, verb: "clone" as const }] };
    await signWhatIsRefused("values", () => farm.clone(id, {}, cloner));

    await expect(farm.clone(id, {}, cloner)).rejects.toThrow("can give a value to target");
    expect((await farm.clone(id))?.applied).toBe(true);
  });
});
