import type { Kind } from "../kind.ts";

/** Bazel workspaces. */
export const bazel: Kind = {
  name: "bazel",
  mark: /^(MODULE\.bazel|WORKSPACE(\.bazel)?)$/,
  group: "native",
  recognise(project) {
    const file = ["MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE"].find((name) => project.has(name));
    // The first line is the version; a fork is written as FORK/VERSION.
    const version = /^\s*(\S+)/.exec(project.text(".bazelversion") ?? "")?.[1];
    return {
      found: file ?? "a Bazel workspace",
      jobs: [
        {
          name: "bazel/test",
          comment: "Builds all targets, too. Exit code 4 means that there are no tests.",
          // Without --batch a Bazel server would continue to run and wait for another command.
          commands: ["bazel --batch test --test_output=errors //..."],
          exitCodes: [0, 4],
          network: true,
        },
      ],
      tools: [
        { program: "bazel", package: "bazel-bootstrap" },
        { program: "cc", package: "gcc" },
      ],
      notes: [
        ...(version === undefined
          ? []
          : [`.bazelversion names ${version}: install that Bazel, or Bazelisk, on the workers`]),
        "Bazel shares more through a cache than a job does: see `grange exec` and docs/build-tools.md",
      ],
    };
  },
};
