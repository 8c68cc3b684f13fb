import type { Endpoint } from "../endpoint.ts";
import { benchmarkRequestEndpoints } from "./benchmark-request-endpoints.ts";
import { benchmarkSuiteEndpoints } from "./benchmark-suite-endpoints.ts";
import { rerunEndpoints } from "./rerun-endpoints.ts";

/** The parts of the HTTP API in the order of docs/http-api.md. */
export const endpointGroups: readonly {
  readonly title: string;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
}[] = [
  { title: "Changes of graphs", endpoints: rerunEndpoints },
  { title: "Benchmark suites", endpoints: benchmarkSuiteEndpoints },
  { title: "Benchmark requests", endpoints: benchmarkRequestEndpoints },
];

/** Every endpoint of the HTTP API, by name. */
export const allEndpoints = {
  ...rerunEndpoints,
  ...benchmarkSuiteEndpoints,
  ...benchmarkRequestEndpoints,
} as const;
