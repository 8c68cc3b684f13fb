import type { Finding } from "./finding.ts";

/** The review's findings about wrong results and lost time of caches and build clients. */
export const findingsOfGranaryAndClients: readonly Finding[] = [];
