import type { Finding } from "./finding.ts";

/** The review's findings about attacks. */
export const findingsOfSecurity: readonly Finding[] = [
  {
    id: "security 1",
    defect: "a body without a stated length, and without a token, ended the server",
    tests: [{ file: "src/server/http/json-body.test.ts" }],
    // Every route that reads JSON, by the one function that they share.
    samePlaces: 0,
  },
  {
    id: "security 2",
    defect: "a job of a worker that runs as root was root of the machine",
    tests: [
      { file: "src/worker/jobs-of-root.test.ts" },
      { file: "src/machine/job-owner.test.ts" },
      { file: "src/measuring/measure-as-root.test.ts" },
    ],
    // Both sandboxes of jobs, and that of benchmarks; the farm's own workers, `grange up`, `grange run` and workers started over SSH share
    // the code, as collectors and `grange bench` do.
    samePlaces: 2,
  },
  {
    id: "security 4",
    defect: "who might submit anywhere read every repository that the farm can read",
    tests: [{ file: "src/graphs/repository-access.test.ts" }],
    // Previews, differences of catalogs, sources of jobs, definitions from elsewhere, ranges, child graphs.
    samePlaces: 5,
  },
  {
    id: "security 5",
    defect: "JSON was parsed before rights were looked at, and held everybody up",
    tests: [
      { file: "src/server/http/json-body.test.ts" },
      { file: "src/server/http/json-value-count.test.ts" },
    ],
    samePlaces: 0,
  },
  {
    id: "security 6",
    defect: "file systems mounted below a shown directory stayed writable for jobs",
    tests: [{ file: "src/worker/sandbox/worker-elsewhere.test.ts", titled: /^in sandbox/ }],
    samePlaces: 0,
  },
  {
    id: "security 7",
    defect: "a refused submission took a repository's name for ever",
    tests: [
      {
        file: "src/graphs/repository-access.test.ts",
        titled: /stores no name|belongs to another address/,
      },
    ],
    samePlaces: 1,
  },
  {
    id: "security 8 (environment)",
    defect: "values of variables that look like secrets were shown to everybody",
    tests: [
      { file: "src/core/hide-secrets.test.ts" },
      { file: "src/invocations/pages/read-command.test.ts" },
      { file: "src/graphs/reruns/customise.test.ts", titled: /secret variables/ },
    ],
    // Arguments and properties of actions; jobs' definitions, templates, patches and changes; answers to customisations
    // and clones; audit entries; definitions of suites.
    samePlaces: 9,
  },
  {
    id: "security 10",
    defect: "outputs had no limit, and uploads went on after cancel",
    tests: [
      {
        file: "src/worker/outputs/collect-outputs.test.ts",
        titled: /sparse|too large|all outputs|an abort ends/,
      },
      {
        file: "src/worker/agent.test.ts",
        titled: /stops (the|an) upload|stops the fetching of inputs|rejects outputs/,
      },
      { file: "src/worker/grpc-farm-connection.test.ts", titled: /aborts an upload/ },
      { file: "src/execution/stores.test.ts", titled: /must still end a lost execution/ },
    ],
    // The fetch of inputs went on, too; the files of a refused directory were uploaded all the same.
    samePlaces: 2,
  },
  {
    id: "security 11",
    defect: "strangers used up the sign-in attempts of all",
    tests: [{ file: "src/sign-in/provider/sign-in-attempt.test.ts" }],
    samePlaces: 0,
  },
  {
    id: "security 9 (granaries)",
    defect: "a granary that named no project was given the caches of all",
    tests: [{ file: "src/access/enrol.test.ts", titled: /granary/ }],
    // The certificate of a machine gives no grants of its own; workers and collectors were limited already.
    samePlaces: 0,
  },
  {
    id: "security 12",
    defect: "one principal took all projects, and nobody could take one away",
    tests: [
      { file: "src/access/projects/project-share.test.ts" },
      { file: "src/server/projects.test.ts" },
      { file: "src/cas/namespaces/project-blobs.test.ts", titled: /a project that is removed/ },
    ],
    // HTTP caches began projects without being counted, too.
    samePlaces: 1,
  },
  {
    id: "security 17",
    defect:
      "small ones: Git's guard, masks of dumps, webhooks, headers, previews, audit, rights, names",
    tests: [
      { file: "src/git/fetch-commit.test.ts", titled: /trusts|another user/ },
      { file: "src/cli/doctor/tools.test.ts" },
      { file: "src/worker/secrets/log-mask.test.ts", titled: /of od|of xxd|without a prefix/ },
      { file: "src/forge/github/take-webhooks.test.ts", titled: /within an hour/ },
      { file: "src/worker/agent.test.ts", titled: /path of its data/ },
      { file: "src/worker/leftovers.test.ts" },
      { file: "src/server/http/http-app.test.ts" },
      {
        file: "src/definitions/hostile-definitions.test.ts",
        titled: /lists in lists|error at each/,
      },
      { file: "src/definitions/source-file.test.ts" },
      {
        file: "src/server/handlers/access-handlers.test.ts",
        titled: /audit log|in the end|looks like|much that is sent|refuses|is good for/,
      },
    ],
    // Grants of `sign`, `benchmark` and `forge` for a repository; standard error and standard input of jobs.
    samePlaces: 5,
  },
  {
    id: "security 13",
    defect: "tokens of forges were seen in the arguments of Git",
    tests: [{ file: "src/git/fetch-commit.test.ts", titled: /password/ }],
    samePlaces: 1,
  },
  {
    id: "security 14",
    defect: "blobs and mirrors were readable by other users of the machine",
    tests: [
      { file: "src/machine/make-directory.test.ts" },
      { file: "src/worker/closed-directories.test.ts" },
      { file: "src/artifacts/artifact-cache.test.ts", titled: /closed to other users/ },
      { file: "test/granary/exec.test.ts", titled: /other users cannot read/ },
    ],
    // The server's mirrors, a worker's directory, a collector's (artifacts, results, sources), a granary's, logs of `grange up`.
    samePlaces: 5,
  },
  {
    id: "security 15",
    defect:
      "jobs saw every directory at the top of their host but ten, and could gain rights by setuid programs",
    tests: [
      { file: "src/worker/image/host-image.test.ts" },
      { file: "src/worker/worker.test.ts", titled: /no further directories of the host/ },
      { file: "src/worker/sandbox/system-calls/seccomp-filter.test.ts" },
      { file: "src/worker/sandbox/system-calls/restricted-jobs.test.ts" },
      // Loopback stays reachable for jobs with network access unless the worker has --private-network (decision 95).
      { file: "src/worker/sandbox/private-network.test.ts" },
    ],
    // Sockets to the hypervisor (AF_VSOCK) and keyrings, which have no namespaces, were open to jobs without network.
    samePlaces: 2,
  },
  {
    id: "security 16",
    defect: "behind a proxy, the farm fetched from private addresses for everybody",
    tests: [{ file: "src/server/private-hosts.test.ts" }],
    samePlaces: 0,
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
