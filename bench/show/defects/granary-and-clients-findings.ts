import type { Finding } from "./finding.ts";

/** The review's findings about wrong results and lost time of caches and build clients. */
export const findingsOfGranaryAndClients: readonly Finding[] = [
  {
    id: "granary 8",
    defect: "a machine got what another machine's compiler of the same size and date had made",
    tests: [
      { file: "test/granary/tools.test.ts", titled: /compilers of one size|a second machine has/ },
      { file: "src/granary/front/http.test.ts", titled: /another compiler gets none/ },
      { file: "src/granary/tools/tool-settings.test.ts", titled: /ccache identifies|Bazel's/ },
      { file: "src/granary/workspace/read-environment.test.ts", titled: /compiler/ },
    ],
    // sccache, Gradle, Turborepo, Nx, Bazel, the granary's protocol; digests of samples; builds without a workspace;
    // compilers that only CC and its like name; ccache's lines on the page Connect and in the demo.
    samePlaces: 11,
  },
  {
    id: "granary 9",
    defect: "a granary that hung cost each compilation 10 s, and each start of a build 5 s",
    tests: [
      { file: "test/granary/exec.test.ts", titled: /granary that hangs/ },
      { file: "src/granary/tools/open-tool-settings.test.ts", titled: /granary does not answer/ },
      { file: "src/cli/granary/await-while-alive.test.ts" },
    ],
    // The start of a build, after the greeting; a granary of another version; what `grange granary …` says of both.
    samePlaces: 3,
  },
  {
    id: "granary 10",
    defect: "a full disk was not told, and the next build ran without what was there",
    tests: [
      { file: "test/granary/full-disk.test.ts" },
      { file: "src/granary/store/disk-full.test.ts" },
    ],
    // The log of a build under way; files for Bazel and for Gradle; programs that stand in for them.
    samePlaces: 4,
  },
  {
    id: "granary 7",
    defect: "what was called saved was several times as long as the build",
    tests: [
      { file: "test/granary/exec.test.ts", titled: /the second finds all its results/ },
      { file: "src/cli/granary/why-lines.test.ts", titled: /a build's report says/ },
    ],
    // `grange granary why`; tiles, chart and table of the farm's page; the list of builds; a build's page and its list.
    samePlaces: 7,
  },
  {
    id: "granary 11",
    defect:
      "after a clock was set back, an older build was shown as the last, and new ones were removed",
    tests: [
      {
        file: "src/granary/builds/last-reports.test.ts",
        titled: /clock was ahead|named by times|last twenty/,
      },
    ],
    samePlaces: 0,
  },
  {
    id: "granary 12",
    defect:
      "the disk held half as much again as the limit, which nothing showed and trim did not free",
    tests: [
      {
        file: "src/granary/store/pack.test.ts",
        titled: /behaves like a map|on request, it contains/,
      },
      { file: "src/cli/granary/status-lines.test.ts", titled: /disk/ },
      { file: "test/granary/exec.test.ts", titled: /the second finds all its results/ },
    ],
    samePlaces: 0,
  },
  {
    id: "granary 6",
    defect: "builds with -g under another path found nothing, and nobody said why",
    tests: [
      { file: "test/granary/tools.test.ts", titled: /at another path/ },
      { file: "src/api/other-keys.test.ts" },
    ],
    // Absolute paths on the compiler's command line; other options.
    samePlaces: 2,
  },
  {
    id: "clients 2",
    defect:
      "symlinks of output directories that left the directory but not the root were refused, with a wrong message",
    tests: [
      {
        file: "src/worker/outputs/collect-outputs.test.ts",
        titled: /point out of it, but not out of the root/,
      },
    ],
    // Trees as inputs of later jobs, as parts laid over others, as outputs of batches, in listings, in results that clients upload.
    samePlaces: 5,
  },
  {
    id: "clients 8",
    defect: "a build that ended at its first call was shown as running, then silent",
    tests: [
      {
        file: "src/invocations/build-events/build-detail.test.ts",
        titled: /first call is refused/,
      },
    ],
    samePlaces: 0,
  },
  {
    id: "clients 10",
    defect: "a name that is not UTF-8 was refused without saying which",
    tests: [{ file: "src/cas/directory-tree.test.ts", titled: /not UTF-8/ }],
    // Directories of inputs, roots of trees, their children.
    samePlaces: 2,
  },
  {
    id: "clients 3",
    defect:
      "after kill -9 the server took up to 17 s to answer, and Bazel's default retries failed",
    tests: [
      {
        file: "src/db/embedded/embedded-postgres.test.ts",
        titled: /when its owner died|outlived PostgreSQL's first one/,
      },
    ],
    // Processes without a postmaster, which were waited for up to 15 s.
    samePlaces: 1,
  },
  {
    id: "granary 5",
    defect: "a result that no index named took two round trips, one more than without a granary",
    tests: [
      {
        file: "src/granary/tiered-cache/open-tiered-cache.test.ts",
        titled: /in one round trip|with wrong bytes for a blob|gets them during the lookup/,
      },
      { file: "src/granaries/blobs-along.test.ts" },
      { file: "src/server/grpc/granaries-service.test.ts", titled: /published and looked up/ },
    ],
    samePlaces: 0,
  },
];
