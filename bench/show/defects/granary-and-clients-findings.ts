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
      { file: "src/granary/tools/open-tool-settings.test.ts", titled: /listens is silent/ },
      { file: "src/cli/granary/while-it-greets.test.ts" },
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
];
