import { afterAll, describe, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfCatalogs, switched } from "./farm-of-catalogs.fixture.ts";
import { previewGraph } from "./preview-graph.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
const { services, push } = farm;
afterAll(async () => {
  await farm.stop();
  await db.close();
});

describe("switches and named graphs", () => {
  const look = async (wanted: object) => {
    const { digest } = await push({
      "a.yml": switched.replace("inactive: slow,", 'inactive: "slow",'),
    });
    const preview = await previewGraph(services, { catalog: digest, ...wanted });
    return {
      ...preview,
      states: Object.fromEntries(preview.jobs.map(({ name, state }) => [name, state])),
    };
  };

  test("without a name, the graph has all jobs, and switches have their declared values", async () => {
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

  test("a named graph has the jobs that it selects, the jobs that they need, and its own values", async () => {
    const { states, switches } = await look({ graph: "nightly" });

    expect(states).toEqual({
      "all-tests": "inactive",
      build: "ready",
      "slow/one": "inactive",
      unit: "blocked",
    });
    expect(switches).toEqual({ pgo: true, channel: "nightly" });
  });

  test("given values override the values of the graph", async () => {
    const { switches } = await look({
      graph: "nightly",
      switches: { pgo: "off", channel: "beta" },
    });

    expect(switches).toEqual({ pgo: false, channel: "beta" });
  });

  test("a selection includes the jobs that its jobs need, and no more", async () => {
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
    const looking = previewGraph(services, {
      definitions: { "a.yml": text },
      graph: /graphs/.test(text) ? "nightly" : undefined,
    });

    await expect(looking).rejects.toThrow(says);
  });
});
