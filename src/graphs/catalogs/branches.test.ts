import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody, type Principal } from "#access/principal.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { GraphId } from "../graph-id.ts";
import { setBranch, showBranch } from "./branches.ts";
import { farmOfCatalogs, switched } from "./farm-of-catalogs.fixture.ts";
import { knownRepository } from "./known-repository.store.ts";
import { previewGraph } from "./preview-graph.ts";
import { pushCatalog } from "./push-catalog.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
const { repository, services, nameOfRepository } = farm;
afterAll(async () => {
  await farm.stop();
  await db.close();
});

describe("a branch", () => {
  test("sets switches for its graphs, and inherits the entry of all branches", async () => {
    repository.write({ ".grange/farm.yml": switched });
    repository.commit("with switches");
    const name = await nameOfRepository();
    await setBranch(
      services,
      name,
      "*",
      { body: { switches: { channel: "beta" } }, dryRun: false },
      everybody,
    );
    await setBranch(
      services,
      name,
      "main",
      { body: { switches: { pgo: "on" } }, why: "release week", dryRun: false },
      everybody,
    );

    const preview = await previewGraph(services, { repository: name, branch: "main" });
    const shown = await showBranch(services, name, "main", everybody);

    expect(preview.switches).toEqual({ pgo: true, channel: "beta" });
    expect(shown.own).toEqual({ switches: { pgo: true } });
    expect(shown.resolved.switches).toEqual({ pgo: true, channel: "beta" });
    expect(shown.history).toMatchObject([{ setBy: "anyone", why: "release week" }]);
    const { graph } = await farm.submit({ rev: "main" });
    expect(Object.keys(await farm.states(GraphId.parse(graph.id)))).toContain("pgo");
  });

  test.each(["refs/heads/main", "heads/main", "release 1", "rel*", "-main", "main..old"])(
    "cannot be %s: what were said of it would hold nowhere",
    async (written) => {
      const name = await nameOfRepository();
      const request = { body: { protected: true }, dryRun: false };
      const files = { "a.yml": "version: 1\njobs:\n  a: {commands: x}\n" };
      const push = { files, repository: name, branch: written, dryRun: true };

      await expect(setBranch(services, name, written, request, everybody)).rejects.toThrow(
        "is not the name of a branch",
      );
      await expect(pushCatalog(services, push, everybody)).rejects.toThrow(
        "is not the name of a branch",
      );
    },
  );

  test("is found by its name when only its ref was given", async () => {
    const request = { body: { protected: true }, dryRun: false };
    const setting = setBranch(
      services,
      await nameOfRepository(),
      "refs/heads/x",
      request,
      everybody,
    );

    await expect(setting).rejects.toThrow('did you mean "x"?');
  });

  test("rejects a switch that no definitions declare", async () => {
    const name = await nameOfRepository();
    const setting = setBranch(
      services,
      name,
      "main",
      { body: { switches: { pgp: true } }, dryRun: false },
      everybody,
    );

    await expect(setting).rejects.toThrow('no switch "pgp"; did you mean "pgo"?');
  });

  test("keeps every change, and rejects one that is not based on the latest", async () => {
    const name = await nameOfRepository();
    const first = await setBranch(
      services,
      name,
      "kept",
      { body: { protected: true }, dryRun: false },
      everybody,
    );
    const after = first.history[0]?.number;
    await setBranch(services, name, "kept", { body: null, dryRun: false, after }, everybody);

    const late = setBranch(services, name, "kept", { body: {}, dryRun: false, after }, everybody);

    await expect(late).rejects.toThrow("anyone has changed kept of");
    const { own, history } = await showBranch(services, name, "kept", everybody);
    expect(own).toBeNull();
    expect(history.map(({ body }) => body)).toEqual([null, { protected: true }]);
  });

  test("a dry run shows the resulting definition, and changes nothing", async () => {
    const name = await nameOfRepository();
    const would = await setBranch(
      services,
      name,
      "dry",
      { body: { priorityCap: 5 }, dryRun: true },
      everybody,
    );

    expect(would.resolved.priorityCap).toBe(5);
    expect((await showBranch(services, name, "dry", everybody)).history).toEqual([]);
  });

  test("keeps its entry when another branch is merged into it", async () => {
    const name = await nameOfRepository();
    const say = (branch: string, pgo: boolean) =>
      setBranch(services, name, branch, { body: { switches: { pgo } }, dryRun: false }, everybody);
    await say("central", false);
    await say("inbound", true);
    repository.git("branch", "central");
    repository.git("checkout", "--quiet", "-b", "inbound");
    repository.write({ ".grange/farm.yml": switched.replace("Profile-guided", "Guided") });
    repository.commit("a change on inbound");
    repository.git("checkout", "--quiet", "central");
    repository.git("merge", "--quiet", "inbound");
    repository.git("checkout", "--quiet", "main");

    const jobsOf = async (branch: string) => {
      const { graph } = await farm.submit({ rev: branch });
      return Object.keys(await farm.states(GraphId.parse(graph.id)));
    };

    expect(repository.git("rev-parse", "central")).toBe(repository.git("rev-parse", "inbound"));
    expect(await jobsOf("central")).not.toContain("pgo");
    expect(await jobsOf("inbound")).toContain("pgo");
  });

  test("that uses pushed definitions makes its graphs from the newest of them", async () => {
    const name = await nameOfRepository();
    const files = { "a.yml": "version: 1\njobs: {pushed: {commands: x}}\n" };
    const before = await pushCatalog(
      services,
      { files, repository: name, branch: "main" },
      everybody,
    );
    await setBranch(
      services,
      name,
      "main",
      { body: { source: { kind: "pushed" } }, dryRun: false },
      everybody,
    );
    const after = await pushCatalog(
      services,
      { files, repository: name, branch: "main" },
      everybody,
    );

    const { graph } = await farm.submit({ rev: "main" });

    expect(before.notice).toContain("--source pushed");
    expect(after.notice).toBeNull();
    expect(Object.keys(await farm.states(GraphId.parse(graph.id)))).toEqual(["pushed"]);
    await setBranch(services, name, "main", { body: null, dryRun: false }, everybody);
  });
});

test("a principal without the right to define cannot register a repository", async () => {
  const request = { body: { protected: true }, dryRun: false };
  const reader: Principal = { name: "eve", grants: [] };

  await expect(
    setBranch(services, "https://git.example/unheard-of", "main", request, reader),
  ).rejects.toThrow("may not define");

  const known = await knownRepository(db, "https://git.example/unheard-of");
  expect(known).toBeUndefined();
});

test("a push without a branch is stored with its author", async () => {
  const files = { "a.yml": "version: 1\njobs:\n  kept: {commands: x}\n" };
  const { digest } = await pushCatalog(services, { files }, { ...everybody, name: "alice" });

  const audit = await db.many(
    z.object({ actor: z.string(), verb: z.string() }),
    sql`select actor, verb from audit_entry where detail = ${JSON.stringify({ catalog: digest })}::jsonb`,
  );

  expect(audit).toEqual([{ actor: "alice", verb: "define" }]);
});
