import type { Finding } from "./finding.ts";

/** The review's findings about attacks. */
export const findingsOfSecurity: readonly Finding[] = [
  {
    id: "security 2",
    defect: "a job of a worker that runs as root was root of the machine",
    tests: [{ file: "src/worker/jobs-of-root.test.ts" }, { file: "src/worker/job-owner.test.ts" }],
    // Both sandboxes; the farm's own workers, `grange up`, `grange run` and workers started over SSH share the code.
    samePlaces: 1,
    left: "collectors that run as root measure benchmarks as root",
  },
  {
    id: "security 15",
    defect:
      "jobs saw every directory at the top of their host but ten, and could gain rights by setuid programs",
    tests: [
      { file: "src/worker/sandbox/host-view.test.ts" },
      { file: "src/worker/worker.test.ts", titled: /no further directories of the host/ },
    ],
    samePlaces: 0,
    left: "no seccomp filter; with `network: true` a job reaches loopback and abstract sockets of its machine (documented)",
  },
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
