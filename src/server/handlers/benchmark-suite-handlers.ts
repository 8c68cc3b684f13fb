import { recordAudit } from "#access/audit.store.ts";
import type { benchmarkSuiteEndpoints } from "#api/endpoints/benchmark-suite-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { showableDefinition } from "#core/hide-secrets.ts";
import { readSetBalance } from "#perf/history/read-set-balance.ts";
import { importResults } from "#perf/imports/import-results.ts";
import { parseToolOutput } from "#perf/imports/parse-tool-output.ts";
import { pushSuite } from "#perf/push-suite.ts";
import { artifactsPage } from "#perf/requests/artifact.store.ts";
import { suiteView } from "#perf/suite-view.ts";
import { allSuites, countArtifacts, findSuite } from "#perf/suites.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

export function benchmarkSuiteHandlers({
  db,
  clock,
}: Pick<HandlerServices, "db" | "clock">): HandlersFor<typeof benchmarkSuiteEndpoints> {
  return {
    async benchmarkSuites() {
      const counts = new Map((await countArtifacts(db)).map((row) => [row.suite, row]));
      const suites = await allSuites(db);
      return { suites: suites.map((suite) => suiteView(suite, counts.get(suite.name))) };
    },

    async benchmarkSuite({ params }) {
      const suite = found(await findSuite(db, params.suite), `suite "${params.suite}"`);
      const counts = (await countArtifacts(db)).find((row) => row.suite === suite.name);
      return { ...suiteView(suite, counts), definition: showableDefinition(suite.definition) };
    },

    pushBenchmarkSuite: ({ params: { suite }, body: { definition }, caller }) =>
      pushSuite({ db, clock }, suite, definition, caller.name, (tx, { digest }) =>
        recordAudit(tx, {
          actor: caller.name,
          verb: "benchmark",
          detail: { what: "push a suite", suite, digest },
        }),
      ),

    benchmarkSetBalance: ({ query: { suite, target, sets } }) =>
      readSetBalance(db, suite, target, sets),

    async benchmarkArtifacts({ query: { suite, kind, before, limit } }) {
      if ((await findSuite(db, suite)) === undefined) {
        throw new Fault("not_found", `there is no suite "${suite}"`);
      }
      const page = await artifactsPage(db, { suite, kind, before, limit });
      return {
        artifacts: page.map(({ tag, kind: is, datedAt, parent, commit, components, state }) => ({
          tag,
          kind: is,
          datedAt: datedAt.toISOString(),
          parent,
          commit,
          backends: Object.keys(components).toSorted(),
          state,
        })),
        next: page.length < limit ? null : (page.at(-1)?.tag ?? null),
      };
    },

    async importBenchmarks({ body, caller }) {
      const imported = parseToolOutput(body.tool, body.output);
      return db.transaction(async (tx) => {
        const { suite, artifact, tool } = body;
        await recordAudit(tx, {
          actor: caller.name,
          verb: "benchmark",
          detail: { imported: artifact, suite, tool },
        });
        return importResults(tx, body, imported, caller.name, clock.now());
      });
    },
  };
}
