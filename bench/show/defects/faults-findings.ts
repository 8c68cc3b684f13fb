import type { Finding } from "./finding.ts";

/** The review's findings about kills, full disks and two servers. */
export const findingsOfFaults: readonly Finding[] = [];
