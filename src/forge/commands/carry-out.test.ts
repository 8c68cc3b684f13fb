import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { GraphSummary } from "#api/graph.ts";
import { Fault } from "#core/fault.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import type { WaitingCommand } from "../command.store.ts";
import type { FarmPort } from "../farm-port.ts";
import { insertForgeGraph } from "../forge-graph.store.ts";
import {
  aPull,
  type RememberedForge,
  rememberedForge,
} from "../outbox/remembered-forge.fixture.ts";
import { forgeEpoch, watch } from "../outbox/watched.fixture.ts";
import { findPull, keepPull } from "../pull.store.ts";
import { tellOf } from "../reports/tell-reports.ts";
import { unsentOf } from "../unsent.store.ts";
import { carryOutCommand } from "./carry-out.ts";

const db = await freshDb();
let forge: RememberedForge;
let asked: unknown[];
let trouble: Error | undefined;
const graphId = "11111111-1111-8111-8111-111111111111";
const requestId = "22222222-2222-4222-8222-222222222222";

beforeEach(async () => {
  await db.script("truncate forge_repository cascade");
  await watch(db, "demo", { suite: "demo" });
  await keepPull(db, "demo", { ...aPull, headSince: new Date(0) });
  forge = rememberedForge();
  forge.permissions.set("octocat", "write");
  asked = [];
  trouble = undefined;
});

const service: FarmPort = {
  url: "https://farm.test/",
  nameRepository: async () => "demo",
  submitGraph: async () => ({ isNew: true }),
  graph: async () => ({ state: "running" }) as GraphSummary,
  async cancelGraph(...cancelled) {
    asked.push(["cancelGraph", cancelled[0], cancelled[1].name]);
  },
  async retrigger(id, selection, by, once) {
    asked.push(["retrigger", id, selection, by.name, once]);
    return { jobs: selection === "nothing" ? [] : ["build"] };
  },
  async requestBenchmark(wanted, by) {
    asked.push(["requestBenchmark", wanted, by.name]);
    if (trouble !== undefined) throw trouble;
    return {
      request: { id: requestId } as Awaited<ReturnType<FarmPort["requestBenchmark"]>>["request"],
      outcome: "created",
      sentence: "Measures 0123456789 of @everyone.",
      parents: [],
    };
  },
  async cancelBenchmark(id, by) {
    asked.push(["cancelBenchmark", id, by.name]);
    return true;
  },
  grantsOf: async () => [],
};

const command = (line: string, more: Partial<WaitingCommand> = {}): WaitingCommand => ({
  repository: "demo",
  id: "900",
  pull: 7,
  author: "octocat",
  command: line,
  head: aPull.head,
  headSeenAt: new Date(0),
  edited: false,
  createdAt: forgeEpoch,
  attempts: 1,
  ...more,
});
const carryOut = (line: string, more: Partial<WaitingCommand> = {}) =>
  carryOutCommand(
    { db, clock: { now: () => forgeEpoch }, service, forgeFor: () => forge },
    command(line, more),
  );
const wanted = async () => (await unsentOf(db, "demo", 9)).map(({ key }) => key);

describe("a command", () => {
  test("to measure creates a request, answers with a link, and its report is shown later", async () => {
    const ended = await carryOut("@grange bench queue profiles=opt runs=7");

    expect(asked).toEqual([
      [
        "requestBenchmark",
        {
          suite: "demo",
          artifact: aPull.head,
          kind: "try",
          pr: 7,
          waitForArtifacts: true,
          backends: [],
          profiles: ["opt"],
          targets: [],
          benchmarks: [],
          runs: 7,
        },
        "octocat@github",
      ],
    ]);
    expect(ended).toEqual({
      state: "done",
      answer: `Measures \`0123456789\` of \`@everyone\`. [The request](https://farm.test/benchmarks/requests/${requestId}).`,
    });
    expect(await wanted()).toEqual(["reaction/900", "reply/900"]);
    expect(
      await db.many(
        z.object({ id: z.string(), asked: z.boolean(), pull: z.number() }),
        sql`select id, was_asked_for as asked, pull from forge_subject`,
      ),
    ).toEqual([{ id: requestId, asked: true, pull: 7 }]);
  });

  test("to retrigger or cancel affects the graphs of this pull request", async () => {
    const graph = { repository: "demo", sha: aPull.head, generation: 1, madeAt: forgeEpoch };
    const ref = "refs/pull/7/head";
    await insertForgeGraph(db, { ...graph, id: graphId, ref, pull: 7 });
    const others = "33333333-3333-8333-8333-333333333333";
    await insertForgeGraph(db, { ...graph, id: others, ref: "refs/heads/main", pull: null });

    expect(await carryOut("@grange retrigger tests")).toEqual({ state: "done", answer: "+1" });
    expect(await carryOut("@grange retrigger nothing")).toMatchObject({ state: "refused" });
    expect(await carryOut("@grange cancel")).toEqual({ state: "done", answer: "+1" });

    expect(asked).toEqual([
      ["retrigger", graphId, "tests", "octocat@github", "demo 900"],
      ["retrigger", graphId, "nothing", "octocat@github", "demo 900"],
      ["cancelGraph", graphId, "octocat@github"],
    ]);
  });

  test("to cancel ends the requests of this pull request, and not those of pull request 7 elsewhere", async () => {
    await watch(db, "other", { suite: "demo" });
    const others = "44444444-4444-4444-8444-444444444444";
    const told = {
      kind: "request",
      sha: aPull.head,
      pull: 7,
      name: "",
      wasRequested: true,
    } as const;
    await tellOf(db, { ...told, repository: "other", subject: others }, forgeEpoch);
    await tellOf(db, { ...told, repository: "demo", subject: requestId }, forgeEpoch);

    await carryOut("@grange cancel");

    expect(asked).toEqual([["cancelBenchmark", requestId, "octocat@github"]]);
  });

  test("to cancel keeps what another open pull request with this head needs", async () => {
    await keepPull(db, "demo", { ...aPull, number: 8, headSince: new Date(0) });
    for (const pull of [7, 8]) {
      const told = { kind: "request", sha: aPull.head, name: "", wasRequested: true } as const;
      await tellOf(db, { ...told, repository: "demo", subject: requestId, pull }, forgeEpoch);
    }

    const { answer } = await carryOut("@grange cancel");
    await keepPull(db, "demo", {
      ...aPull,
      number: 8,
      state: "closed",
      headSince: new Date(0),
      updatedAt: new Date(aPull.updatedAt.getTime() + 1_000),
    });
    await carryOut("@grange cancel");

    expect(answer).toContain("that another pull request with this head shares continue");
    expect(asked).toEqual([["cancelBenchmark", requestId, "octocat@github"]]);
  });

  test("to approve is stored for the head", async () => {
    const pull = { ...aPull, isFork: true };
    forge.pullNow = pull;
    await keepPull(db, "demo", { ...pull, headSince: new Date(0) });

    expect(await carryOut("@grange approve")).toEqual({ state: "done", answer: "+1" });

    expect(await findPull(db, "demo", 7)).toMatchObject({
      approvedHead: aPull.head,
      approvedBy: "octocat@github",
    });
  });

  test("to approve waits until the farm has read the same head as the forge", async () => {
    const head = "c".repeat(40);
    forge.pullNow = { ...aPull, isFork: true, head };

    await expect(carryOut(`@grange approve ${head}`)).rejects.toMatchObject({ code: "aborted" });

    expect(await wanted()).toEqual([]);
  });

  test("is decided by the forge's current data: permission and head", async () => {
    forge.permissions.set("octocat", "read");
    forge.pullNow = { ...aPull, isFork: true };

    expect(await carryOut("@grange bench")).toEqual({ state: "refused", answer: "-1" });

    expect(asked).toEqual([]);
    expect(await wanted()).toEqual(["reaction/900"]);
  });

  test("that was edited requests nothing from the farm", async () => {
    expect(await carryOut("@grange cancel", { edited: true })).toEqual({
      state: "refused",
      answer: "confused",
    });
    expect([asked, forge.calls]).toEqual([[], []]);
  });
});

describe("when the farm rejects it", () => {
  test("its sentence is the answer, and foreign words in it are not markup", async () => {
    trouble = new Fault(
      "invalid_argument",
      'demo has no backend "<img src=x>"; it has @octo/all, llvm',
    );

    const { state, answer } = await carryOut("@grange bench backends=x");

    expect(state).toBe("refused");
    expect(answer).toContain("it has `@octo/all`, llvm.");
    expect(answer.replaceAll(/`[^`]*`/g, "")).not.toMatch(/[<>@]/);
  });

  test.each([
    new Fault("unavailable", "the database is away"),
    new Fault("aborted", "somebody was faster"),
    new Error("boom /var/lib/secret"),
  ])("for a while, it is tried again, and after long the asker hears of it: %s", async (reason) => {
    trouble = reason;

    await expect(carryOut("@grange bench")).rejects.toBe(reason);
    const last = await carryOut("@grange bench", { attempts: 12 });

    expect(last.answer).toBe(
      "An error occurred on the farm; its log contains the details. Try again later.",
    );
  });
});

test("the same comment twice gives one answer", async () => {
  await carryOut("@grange bench");
  await carryOut("@grange bench", { attempts: 2 });

  expect(await wanted()).toEqual(["reaction/900", "reply/900"]);
});
