import { afterAll, describe, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { GraphId } from "../graph-id.ts";
import { setBranch, showBranch } from "./branches.ts";
import { branchCatalog, catalogOfTree } from "./catalog-source.store.ts";
import { diffCatalogs } from "./diff-catalogs.ts";
import { previewGraph } from "./preview-graph.ts";
import { pushCatalog } from "./push-catalog.ts";
import { definitionsTree } from "./read-definition-files.ts";

const db = await freshDb();
const farm = await farmOfGraphs(db);
const { repository } = farm;
const rooms = { ...farm.submission, trees: farm.parts.trees, project: farm.parts.project };
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const push = (files: Record<string, string>) => pushCatalog(rooms, { files }, everybody);
const nameOfRepository = async () => (await farm.submit()).graph.repository;

describe("a catalog", () => {
  test("that is pushed twice unchanged has one digest, and is new once", async () => {
    const files = { "a.yml": "version: 1\njobs:\n  twice: {commands: x}\n" };

    const first = await push(files);
    const second = await push(files);

    expect(first).toMatchObject({ isNew: true, entries: 1 });
    expect(second).toEqual({ ...first, isNew: false });
  });

  test("is the same whatever the order, the comments and the files that things stand in", async () => {
    const one = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: }\njobs:\n  lint: {commands: x, timeout: 5m}\n  unit: {commands: y}\n",
    });
    const other = await push({
      "unit.yml": "# the unit tests\nversion: 1\njobs:\n  unit: {commands: y}\n",
      "rest.yml":
        "version: 1\njobs:\n  lint:\n    timeout: 5m # at most\n    commands: x\nswitches:\n  pgo:\n",
    });

    expect(other).toEqual({ ...one, isNew: false });
  });

  test.each([
    { what: "a job", text: "version: 1\njobs: {a: {commands: z}}" },
    {
      what: "a switch's default",
      text: "version: 1\nswitches: {s: {default: true}}\njobs: {a: {commands: x}}",
    },
    { what: "a name", text: "version: 1\njobs: {b: {commands: x}}" },
  ])("has another digest when $what changes", async ({ text }) => {
    const before = await push({
      "a.yml": "version: 1\nswitches: {s: }\njobs: {a: {commands: x}}",
    });

    expect((await push({ "a.yml": text })).digest).not.toBe(before.digest);
  });

  test("with a job that nobody could run is refused, with its place", async () => {
    const pushing = push({ "a.yml": "version: 1\njobs:\n  a: {comands: x}\n" });

    await expect(pushing).rejects.toThrow('a.yml:3:7: job "a": there is no key "comands" here');
  });
});

describe("the definitions of a commit", () => {
  test("are read once for all commits that do not change them", async () => {
    repository.write({
      ".grange/farm.yml": "version: 1\njobs: {a: {commands: x}}\n",
      "a.txt": "1",
    });
    repository.commit("one");
    const first = await farm.submit({ rev: "main" });
    repository.write({ "a.txt": "2" });
    const sha = repository.commit("two");

    const commit = await rooms.mirrors.fetchCommit(repository.path, sha);
    const tree = (await definitionsTree(rooms.git, commit)) ?? "";

    expect(await catalogOfTree(db, first.graph.repository, tree)).toBe(
      (await branchCatalog(db, first.graph.repository, "main"))?.catalog,
    );
  });

  test("are told of with line and column, also when they are known from another commit", async () => {
    const broken =
      "version: 1\nparameters: {p: }\njobs:\n  a: {commands: x, timeout: '${parameters.p}'}\n";
    repository.write({ ".grange/farm.yml": broken });
    repository.commit("broken for most values");
    await farm.submit({ parameters: { p: "5m" } });

    const again = farm.submit({ parameters: { p: "soon" } });

    await expect(again).rejects.toThrow(
      '.grange/farm.yml:4:29: job "a": timeout: must be a duration',
    );
  });

  test("name the entry when they come from the store", async () => {
    const pushed = await push({
      "a.yml":
        "version: 1\nparameters: {p: }\njobs:\n  a: {commands: x, timeout: '${parameters.p}'}\n",
    });

    const looking = previewGraph(rooms, { catalog: pushed.digest, parameters: { p: "soon" } });

    await expect(looking).rejects.toThrow(
      `catalog ${pushed.digest.slice(0, 10)}, jobs.a.timeout: job "a": timeout: must be a duration`,
    );
  });
});

const switched = `version: 1
switches:
  pgo: {description: Profile-guided}
  channel: {default: nightly}
graphs:
  nightly: {select: "all-tests", inactive: slow, switches: {pgo: on}}
jobs:
  build: {commands: "make \${switches.channel}", outputs: dist}
  pgo: {commands: make pgo, when: switches.pgo, tags: {kind: b2g}}
  unit: {commands: test, needs: [build], tags: {kind: test}}
  slow/one: {commands: test, needs: [build], tags: {slow: true}}
  report: {commands: report, needs: {slow/one: {optional: true, outputs: []}}}
  all-tests: {kind: join, needs: [unit, slow/one]}
  lint: {commands: lint}
`;

describe("switches and named graphs", () => {
  const look = async (wanted: object) => {
    const { digest } = await push({
      "a.yml": switched.replace("inactive: slow,", 'inactive: "slow",'),
    });
    const preview = await previewGraph(rooms, { catalog: digest, ...wanted });
    return {
      ...preview,
      states: Object.fromEntries(preview.jobs.map(({ name, state }) => [name, state])),
    };
  };

  test("without a name, all jobs are meant, and switches are as declared", async () => {
    const { states, switches } = await look({});

    expect(Object.keys(states)).toEqual([
      "all-tests",
      "build",
      "lint",
      "report",
      "slow/one",
      "unit",
    ]);
    expect(switches).toEqual({ pgo: false, channel: "nightly" });
  });

  test("a named graph has what it selects, what that needs, and its own values", async () => {
    const { states, switches } = await look({ graph: "nightly" });

    expect(states).toEqual({
      "all-tests": "inactive",
      build: "ready",
      "slow/one": "inactive",
      unit: "blocked",
    });
    expect(switches).toEqual({ pgo: true, channel: "nightly" });
  });

  test("what is given comes before what the graph says", async () => {
    const { switches } = await look({
      graph: "nightly",
      switches: { pgo: "off", channel: "beta" },
    });

    expect(switches).toEqual({ pgo: false, channel: "beta" });
  });

  test("a selection takes along what its jobs need, and no more", async () => {
    const { states } = await look({ switches: { pgo: "on" }, select: "kind:test | kind:b2g" });

    expect(states).toEqual({ build: "ready", pgo: "ready", unit: "blocked" });
  });

  test.each([
    {
      wanted: { switches: { pg: "on" } },
      says: 'the definitions have no switch "pg"; did you mean "pgo"?',
    },
    { wanted: { switches: { pgo: "maybe" } }, says: 'switch "pgo" must be on or off' },
    {
      wanted: { graph: "nightlies" },
      says: 'the definitions have no graph "nightlies"; did you mean "nightly"?',
    },
    { wanted: { select: "kind:" }, says: 'selection, column 6: "kind:" has no value' },
    { wanted: { select: "nothing-such" }, says: 'no job is selected by "nothing-such"' },
  ])("$says", async ({ wanted, says }) => {
    await expect(look(wanted)).rejects.toThrow(says);
  });

  test.each([
    {
      what: "a switch that nothing declares",
      text: "version: 1\nswitches: {pgo: }\njobs:\n  a: {commands: x, when: switches.pg}\n",
      says: 'a.yml:4:26: template: nothing declares "pg"; did you mean "pgo"?',
    },
    {
      what: "a selection with a mistake",
      text: "version: 1\ngraphs:\n  nightly: {select: 'a &'}\njobs: {a: {commands: x}}\n",
      says: "a.yml:3:21: select: selection, column 4: something is missing at its end",
    },
    {
      what: "a selection by state",
      text: "version: 1\ngraphs:\n  nightly: {select: 'state:failed'}\njobs: {a: {commands: x}}\n",
      says: "jobs have no state before they run",
    },
    {
      what: "a named graph with a switch that nothing declares",
      text: "version: 1\ngraphs:\n  nightly: {switches: {pgo: on}}\njobs: {a: {commands: x}}\n",
      says: 'a.yml:3:24: the definitions have no switch "pgo"; they have none',
    },
  ])("$what is refused with its place", async ({ text, says }) => {
    const looking = previewGraph(rooms, {
      definitions: { "a.yml": text },
      graph: /graphs/.test(text) ? "nightly" : undefined,
    });

    await expect(looking).rejects.toThrow(says);
  });
});

describe("a branch", () => {
  test("sets switches for its graphs; what is said of all branches is inherited", async () => {
    repository.write({ ".grange/farm.yml": switched });
    repository.commit("with switches");
    const name = await nameOfRepository();
    await setBranch(
      rooms,
      name,
      "*",
      { body: { switches: { channel: "beta" } }, dryRun: false },
      everybody,
    );
    await setBranch(
      rooms,
      name,
      "main",
      { body: { switches: { pgo: "on" } }, why: "release week", dryRun: false },
      everybody,
    );

    const preview = await previewGraph(rooms, { repository: name, branch: "main" });
    const shown = await showBranch(db, name, "main");

    expect(preview.switches).toEqual({ pgo: true, channel: "beta" });
    expect(shown.own).toEqual({ switches: { pgo: true } });
    expect(shown.resolved.switches).toEqual({ pgo: true, channel: "beta" });
    expect(shown.history).toMatchObject([{ setBy: "anyone", why: "release week" }]);
    const { graph } = await farm.submit({ rev: "main" });
    expect(Object.keys(await farm.states(GraphId.parse(graph.id)))).toContain("pgo");
  });

  test("refuses a switch that no definitions declare", async () => {
    const name = await nameOfRepository();
    const setting = setBranch(
      rooms,
      name,
      "main",
      { body: { switches: { pgp: true } }, dryRun: false },
      everybody,
    );

    await expect(setting).rejects.toThrow('no switch "pgp"; did you mean "pgo"?');
  });

  test("keeps every change, and refuses one that does not know the latest", async () => {
    const name = await nameOfRepository();
    const first = await setBranch(
      rooms,
      name,
      "kept",
      { body: { protected: true }, dryRun: false },
      everybody,
    );
    const after = first.history[0]?.number;
    await setBranch(rooms, name, "kept", { body: null, dryRun: false, after }, everybody);

    const late = setBranch(rooms, name, "kept", { body: {}, dryRun: false, after }, everybody);

    await expect(late).rejects.toThrow("anyone has changed kept of");
    const { own, history } = await showBranch(db, name, "kept");
    expect(own).toBeNull();
    expect(history.map(({ body }) => body)).toEqual([null, { protected: true }]);
  });

  test("a dry run says what would hold, and changes nothing", async () => {
    const name = await nameOfRepository();
    const would = await setBranch(
      rooms,
      name,
      "dry",
      { body: { priorityCap: 5 }, dryRun: true },
      everybody,
    );

    expect(would.resolved.priorityCap).toBe(5);
    expect((await showBranch(db, name, "dry")).history).toEqual([]);
  });

  test("that uses pushed definitions makes its graphs of the newest of them", async () => {
    const name = await nameOfRepository();
    const files = { "a.yml": "version: 1\njobs: {pushed: {commands: x}}\n" };
    const before = await pushCatalog(rooms, { files, repository: name, branch: "main" }, everybody);
    await setBranch(
      rooms,
      name,
      "main",
      { body: { source: { kind: "pushed" } }, dryRun: false },
      everybody,
    );
    const after = await pushCatalog(rooms, { files, repository: name, branch: "main" }, everybody);

    const { graph } = await farm.submit({ rev: "main" });

    expect(before.notice).toContain("--source pushed");
    expect(after.notice).toBeNull();
    expect(Object.keys(await farm.states(GraphId.parse(graph.id)))).toEqual(["pushed"]);
    await setBranch(rooms, name, "main", { body: null, dryRun: false }, everybody);
  });
});

describe("what differs between two catalogs", () => {
  test("is told by job, edge and switch", async () => {
    const a = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: }\njobs:\n  build: {commands: make}\n  unit: {commands: test, needs: [build], timeout: 5m}\n  old: {commands: x}\n",
    });
    const b = await push({
      "a.yml":
        "version: 1\nswitches: {pgo: {default: true}}\njobs:\n  build: {commands: make}\n  unit: {commands: test, needs: {build: {on: end}}, timeout: 9m}\n  new: {commands: x, needs: [build]}\n",
    });

    const diff = await diffCatalogs(rooms, a.digest.slice(0, 12), b.digest, undefined);

    expect(diff).toMatchObject({
      same: false,
      jobs: { added: ["new"], removed: ["old"] },
      switches: { changed: [{ name: "pgo", parts: [{ path: "default", after: true }] }] },
      edges: [
        { job: "new", on: "build", before: null, after: "success" },
        { job: "unit", on: "build", before: "success", after: "end" },
      ],
    });
    expect(diff.jobs.changed).toEqual([
      {
        name: "unit",
        parts: [
          { path: "needs", before: ["build"], after: { build: { on: "end" } } },
          { path: "timeout", before: "5m", after: "9m" },
        ],
      },
    ]);
  });

  test("between a branch and a revision is that of their definitions", async () => {
    repository.write({ ".grange/farm.yml": switched });
    repository.commit("as before");
    const name = await nameOfRepository();
    await farm.submit({ rev: "main" });
    repository.git("checkout", "--quiet", "-b", "work");
    repository.write({
      ".grange/farm.yml": switched.replace("commands: lint", "commands: lint -v"),
    });
    const sha = repository.commit("louder");
    repository.git("checkout", "--quiet", "main");

    const diff = await diffCatalogs(rooms, "main", sha, name);

    expect(diff).toMatchObject({
      a: { branch: "main" },
      b: { branch: null },
      jobs: {
        changed: [
          { name: "lint", parts: [{ path: "commands", before: "lint", after: "lint -v" }] },
        ],
      },
      edges: [],
    });
    expect((await diffCatalogs(rooms, "main", "main", name)).same).toBe(true);
  });
});

describe("a preview", () => {
  test("says which jobs have a result already, and submitting it makes the same jobs", async () => {
    repository.write({
      ".grange/farm.yml":
        "version: 1\njobs:\n  one: {commands: one}\n  two: {commands: two, needs: {one: {outputs: []}}}\n",
    });
    const sha = repository.commit("one and two");
    const before = await previewGraph(rooms, { repository: repository.path, rev: sha });
    const { graph } = await farm.submit({ rev: sha });
    await farm.work();

    const after = await previewGraph(rooms, { repository: repository.path, rev: sha });

    expect(before.jobs.map(({ name, state, hasResult }) => [name, state, hasResult])).toEqual([
      ["one", "ready", false],
      ["two", "blocked", false],
    ]);
    expect(after.jobs.map(({ hasResult }) => hasResult)).toEqual([true, true]);
    expect(graph.catalog).toBe(before.rendered);
    expect(after.edges).toEqual([{ job: "two", on: "one", condition: "success" }]);
  });

  test("of a branch needs no revision, and stores nothing", async () => {
    const name = await nameOfRepository();
    const preview = await previewGraph(rooms, { repository: name, branch: "main" });

    expect(preview.commit).toBeNull();
    expect(preview.jobs.length).toBeGreaterThan(0);
  });
});
