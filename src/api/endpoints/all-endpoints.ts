import type { Endpoint } from "../endpoint.ts";
import { rerunEndpoints } from "./rerun-endpoints.ts";

/** The parts of the HTTP API in the order of docs/http-api.md. */
export const endpointGroups: readonly {
  readonly title: string;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
}[] = [{ title: "Changes of graphs", endpoints: rerunEndpoints }];

/** Every endpoint of the HTTP API, by name. */
export const allEndpoints = {
  ...rerunEndpoints,
} as const;
