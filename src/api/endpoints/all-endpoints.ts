import type { Endpoint } from "../endpoint.ts";
import { accessEndpoints } from "./access-endpoints.ts";
import { autoscalingEndpoints } from "./autoscaling-endpoints.ts";
import { benchmarkCollectorEndpoints } from "./benchmark-collector-endpoints.ts";
import { benchmarkHistoryEndpoints } from "./benchmark-history-endpoints.ts";
import { benchmarkRequestEndpoints } from "./benchmark-request-endpoints.ts";
import { benchmarkSearchEndpoints } from "./benchmark-search-endpoints.ts";
import { benchmarkSuiteEndpoints } from "./benchmark-suite-endpoints.ts";
import { cacheEndpoints } from "./cache-endpoints.ts";
import { catalogEndpoints } from "./catalog-endpoints.ts";
import { enrolmentEndpoints } from "./enrolment-endpoints.ts";
import { executionEndpoints } from "./execution-endpoints.ts";
import { flakyEndpoints } from "./flaky-endpoints.ts";
import { forgeEndpoints } from "./forge-endpoints.ts";
import { granaryEndpoints } from "./granary-endpoints.ts";
import { graphEndpoints } from "./graph-endpoints.ts";
import { invocationEndpoints } from "./invocation-endpoints.ts";
import { jobEndpoints } from "./job-endpoints.ts";
import { keyEndpoints } from "./key-endpoints.ts";
import { projectEndpoints } from "./project-endpoints.ts";
import { repositoryEndpoints } from "./repository-endpoints.ts";
import { rerunEndpoints } from "./rerun-endpoints.ts";
import { retentionEndpoints } from "./retention-endpoints.ts";
import { searchEndpoints } from "./search-endpoints.ts";
import { secretEndpoints } from "./secret-endpoints.ts";
import { serverEndpoints } from "./server-endpoints.ts";
import { sessionEndpoints } from "./session-endpoints.ts";
import { shareEndpoints } from "./share-endpoints.ts";
import { signInEndpoints } from "./sign-in-endpoints.ts";
import { sizeClassEndpoints } from "./size-class-endpoints.ts";
import { timesEndpoints } from "./times-endpoints.ts";
import { workerEndpoints } from "./worker-endpoints.ts";

/** The parts of the HTTP API in the order of docs/http-api.md. */
export const endpointGroups: readonly {
  readonly title: string;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
}[] = [
  { title: "The server", endpoints: serverEndpoints },
  { title: "Graphs", endpoints: graphEndpoints },
  { title: "Jobs and runs", endpoints: jobEndpoints },
  { title: "Flaky jobs and actions", endpoints: flakyEndpoints },
  { title: "Changes of graphs", endpoints: rerunEndpoints },
  { title: "Catalogs and branches", endpoints: catalogEndpoints },
  { title: "Settings of repositories", endpoints: repositoryEndpoints },
  { title: "Searches over commits", endpoints: searchEndpoints },
  { title: "Times and metrics", endpoints: timesEndpoints },
  { title: "Benchmark suites", endpoints: benchmarkSuiteEndpoints },
  { title: "Benchmark requests", endpoints: benchmarkRequestEndpoints },
  { title: "Tokens and grants", endpoints: accessEndpoints },
  { title: "Share links", endpoints: shareEndpoints },
  { title: "Keys, signatures and provenance", endpoints: keyEndpoints },
  { title: "Enrolment of machines", endpoints: enrolmentEndpoints },
  { title: "Secrets", endpoints: secretEndpoints },
  { title: "Workers", endpoints: workerEndpoints },
  { title: "Retention", endpoints: retentionEndpoints },
  { title: "Projects and caches", endpoints: projectEndpoints },
  { title: "Use of the cache", endpoints: cacheEndpoints },
  { title: "Size classes", endpoints: sizeClassEndpoints },
  { title: "Autoscaling", endpoints: autoscalingEndpoints },
  { title: "Granaries", endpoints: granaryEndpoints },
  { title: "Benchmark results", endpoints: benchmarkHistoryEndpoints },
  { title: "Benchmark searches", endpoints: benchmarkSearchEndpoints },
  { title: "Benchmark collectors", endpoints: benchmarkCollectorEndpoints },
  { title: "Invocations of build tools", endpoints: invocationEndpoints },
  { title: "Executions and blobs", endpoints: executionEndpoints },
  { title: "Signing in", endpoints: signInEndpoints },
  { title: "Sessions, identities and issuers", endpoints: sessionEndpoints },
  { title: "Forges", endpoints: forgeEndpoints },
];

/** Every endpoint of the HTTP API, by name, except those for signing in (`signInEndpoints`). */
export const allEndpoints = {
  ...serverEndpoints,
  ...graphEndpoints,
  ...jobEndpoints,
  ...flakyEndpoints,
  ...rerunEndpoints,
  ...catalogEndpoints,
  ...repositoryEndpoints,
  ...searchEndpoints,
  ...timesEndpoints,
  ...benchmarkSuiteEndpoints,
  ...benchmarkRequestEndpoints,
  ...accessEndpoints,
  ...keyEndpoints,
  ...enrolmentEndpoints,
  ...secretEndpoints,
  ...workerEndpoints,
  ...retentionEndpoints,
  ...projectEndpoints,
  ...cacheEndpoints,
  ...benchmarkHistoryEndpoints,
  ...benchmarkSearchEndpoints,
  ...benchmarkCollectorEndpoints,
  ...sizeClassEndpoints,
  ...autoscalingEndpoints,
  ...granaryEndpoints,
  ...invocationEndpoints,
  ...executionEndpoints,
  ...sessionEndpoints,
  ...forgeEndpoints,
  ...shareEndpoints,
} as const;
