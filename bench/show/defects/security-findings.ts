import type { Finding } from "./finding.ts";

/** The review's findings about attacks. */
export const findingsOfSecurity: readonly Finding[] = [
  {
    id: "security 3",
    defect: "nobody wrote blobs on a closed farm, and 33 KB unpacked to 1 GiB",
    tests: [
      { file: "src/server/blob-writes.test.ts" },
      { file: "src/access/blob-writes/write-quota.test.ts" },
      { file: "src/server/grpc/action-cache-service.test.ts", titled: /needs the right to write/ },
    ],
    // Results that clients keep (UpdateActionResult, granaries); entries of HTTP caches had a right, but no quota.
    samePlaces: 2,
  },
];
