import type { Finding } from "./finding.ts";

/** The review's findings about attacks. */
export const findingsOfSecurity: readonly Finding[] = [];
