import { randomUUID } from "node:crypto";
import { everybody } from "#access/principal.ts";
import { StartSearch } from "#api/search.ts";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { type Answer, farmOfGraphs } from "#graphs/farm-of-graphs.fixture.ts";
import type { RangeServices } from "./ask-commit.ts";
import { type SearchId, searches } from "./search.store.ts";
import { startSearch } from "./start-search.ts";
import { stepSearches } from "./step-search.ts";

/** The answer of a commit's test, by the commit's position in its history and the number of the run. */
export type AnswerAt = (place: number, run: number) => Answer;

/** A farm with histories for searches, whose worker answers as the test defines. */
export async function farmOfSearches(db: Db) {
  const farm = await farmOfGraphs(db);
  const services: RangeServices = {
    ...farm.parts,
    ...farm.submission,
    queue: farm.queue,
    pricePerWorkerMinute: 0,
  };

  /**
   * Commits a history; returns its commits.
   *
   * Each has a job that prints the commit's position in it, a job that this one needs, and one that is not requested.
   */
  function commitHistory(length: number): { readonly commits: string[]; readonly mark: string } {
    const mark = randomUUID().slice(0, 8);
    const commits = Array.from({ length }, (_, i) => {
      farm.repository.write({
        ".grange/jobs.yml": `version: 1
jobs:
  build: {commands: "build ${mark} ${i}", inputs: [], outputs: app}
  test: {commands: "test ${mark} ${i}", inputs: [], needs: [build], tags: {suite: unit}}
  docs: {commands: "docs ${mark} ${i}", inputs: []}`,
      });
      return farm.repository.commit(`Change ${i}`);
    });
    return { commits, mark };
  }

  function start(asked: Record<string, unknown>) {
    const request = { repository: farm.repository.path, selection: "suite:unit", ...asked };
    return startSearch(services, StartSearch.parse(request), everybody);
  }

  async function searchOf(id: SearchId | undefined) {
    const [search] = await searches(db, sql`id = ${id ?? null}`, 1);
    if (search === undefined) throw new Error("there is no such search");
    return search;
  }

  /** Steps a search, with the worker's answers, until it has ended. Returns the tested positions, in order. */
  async function carryOn(id: SearchId | undefined, mark: string, answer: AnswerAt) {
    const tested: number[] = [];
    for (let round = 0; round < 200; round++) {
      await stepSearches(services, id);
      if ((await searchOf(id)).state !== "running") return tested;
      await farm.work((script) => {
        const [, job, place] = new RegExp(`(build|test|docs) ${mark} (\\d+)`).exec(script) ?? [];
        if (job !== "test") return job === "build" ? { outputs: { app: `${mark} ${place}` } } : {};
        tested.push(Number(place));
        return answer(Number(place), tested.filter((one) => one === Number(place)).length);
      });
    }
    throw new Error("the search does not end");
  }

  return { farm, services, commitHistory, start, searchOf, carryOn };
}
