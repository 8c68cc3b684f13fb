import { withBenchDatabase } from "../../bench-database.ts";
import { measureCatalog, measurePreview } from "../../catalogs.ts";
import { atMost, forInformation, type Measurement } from "../row.ts";

const definitions = 40_000;

export const catalogOfManyDefinitions: Measurement = {
  title: "a catalog of 40,000 definitions",
  long: false,
  async measure() {
    const catalog = await withBenchDatabase((db) => measureCatalog(db, definitions));
    const how = `${catalog.definitions} definitions in 400 files of a commit, ${catalog.megabytes.toFixed(0)} MB`;
    return [
      atMost("40,000 definitions: read and digest, cold", catalog.coldReadMs, 3_000, "ms", how),
      atMost(
        "40,000 definitions: did anything change? no",
        catalog.noChangeMs,
        20,
        "ms",
        "the next commit, which changes none of them: from its name to the catalog that it has",
      ),
      forInformation(
        "40,000 definitions: one file of 400 changed",
        catalog.oneFileReadMs,
        "ms",
        `read and digest; another ${Math.round(catalog.oneFileStoreMs)} ms to store`,
      ),
      forInformation("40,000 definitions: stored, cold", catalog.storeMs, "ms", how),
    ];
  },
};

export const preview: Measurement = {
  title: "plan of 5,000 jobs from a template",
  long: false,
  async measure() {
    const figures = await withBenchDatabase((db) => measurePreview(db));
    const { jobs } = figures;
    return [
      atMost(
        `plan of ${jobs} jobs from a template: after a push`,
        figures.afterPushMs,
        100,
        "ms",
        "catalog → holes filled → jobs, edges, expected times, as POST /graphs/preview makes it; definitions that nobody looked at before",
      ),
      atMost(
        `plan of ${jobs} jobs from a template: for another branch`,
        figures.otherBranchMs,
        100,
        "ms",
        "the same catalog, all holes filled differently",
      ),
      atMost(
        `plan of ${jobs} jobs from a template: again`,
        figures.sameAgainMs,
        100,
        "ms",
        "as before",
      ),
      forInformation(
        `plan of ${jobs} jobs from a template: by a server just started`,
        figures.afterRestartMs,
        "ms",
        "the first time; the catalog comes from the database, and each job is checked once",
      ),
      atMost(
        "a changed definition → the visible graph of 1,000 jobs",
        figures.changeToGraphMs,
        1_000,
        "ms",
        "push of the definitions, submission, reading the whole graph",
      ),
    ];
  },
};
