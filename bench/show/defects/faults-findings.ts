import type { Finding } from "./finding.ts";

/** The review's findings about kills, full disks and two servers. */
export const findingsOfFaults: readonly Finding[] = [
  {
    id: "faults V1",
    defect: "two servers on one data directory in different pid namespaces destroyed the database",
    tests: [
      { file: "test/faults/shared-data-directory.test.ts" },
      { file: "src/machine/holder-lock.test.ts" },
      { file: "src/machine/lock-open-file.test.ts" },
      { file: "src/db/embedded/cluster-lock.test.ts" },
    ],
    // `grange up`, granary, collector, measuring, eviction, starting workers over SSH.
    samePlaces: 6,
  },
  {
    id: "faults V2",
    defect: "after the loss of a PostgreSQL process, the server neither stopped nor started again",
    tests: [
      { file: "src/db/embedded/embedded-postgres.test.ts", titled: /hangs|recovers|outlived/ },
    ],
    // The server's own stop, and the end of an earlier PostgreSQL.
    samePlaces: 1,
  },
  {
    id: "faults V3",
    defect: "an unhandled error event of a connection ended the server",
    tests: [{ file: "src/db/postgres.test.ts", titled: /one packet|is cut|listener/ }],
    samePlaces: 0,
  },
  {
    id: "faults V5",
    defect: "a lost blob of a commit's file was not imported from Git again until a restart",
    tests: [
      { file: "src/graphs/lost-inputs.test.ts" },
      { file: "src/graphs/retry-again.test.ts", titled: /inputs the store had lost/ },
    ],
    // Files that another job finds; other repositories' files; batches whose input root is gone, which were started
    // forever.
    samePlaces: 3,
  },
  {
    id: "faults V6",
    defect:
      "blobs that were gone were claimed to be here, and one whose bytes had changed was not healed by an upload",
    tests: [
      { file: "src/cas/existence-caching-blob-store.test.ts", titled: /corrupt|renewed|over/ },
      {
        file: "src/cas/namespaces/project-blobs.test.ts",
        titled: /bytes have changed|removed behind/,
      },
      { file: "src/server/grpc/byte-stream-service.test.ts", titled: /bytes have changed/ },
    ],
    // Batches, streams, ByteStream.Write and QueryWriteStatus each took a file's size for its bytes.
    samePlaces: 3,
  },
  {
    id: "faults V7",
    defect: "behind PgBouncer in transaction mode the server started, and then failed",
    tests: [{ file: "src/db/own-connections.test.ts" }],
    samePlaces: 0,
  },
  {
    id: "faults V8",
    defect: "processes started up to a second after their cancellation was acknowledged",
    tests: [
      { file: "src/execution/finishing/cancellations.test.ts" },
      {
        file: "src/worker/agent.test.ts",
        titled: /receives a cancellation at once|before the claim was answered/,
      },
      { file: "src/graphs/cancel-and-confirm.test.ts" },
    ],
    // Second runs that wait; batches of chunked jobs; graphs that jobs created; pipes awaited before a process is
    // spawned.
    samePlaces: 4,
  },
  {
    id: "faults V9",
    defect:
      "a full disk was answered with 429, and a failed statement reported as a later one's refusal; a worker leaked file handles; attempts were used up where the only worker had a full disk",
    tests: [
      { file: "src/db/postgres.test.ts", titled: /what failed first/ },
      { file: "src/server/http/fault-to-http.test.ts" },
      { file: "src/worker/run-process.test.ts" },
      { file: "test/faults/full-disk.test.ts", titled: /inputs do not fit on the disk/ },
    ],
    samePlaces: 1,
  },
];
