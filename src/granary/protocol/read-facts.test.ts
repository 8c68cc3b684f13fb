import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openGit } from "#git/run-git.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { openKnownDigests } from "../workspace/known-digests.ts";
import { readFacts } from "./read-facts.ts";

const settings = ".grange/granary/settings.yml";

async function scene(files: Readonly<Record<string, string>>) {
  const dataDirectory = await mkdtemp(join(tmpdir(), "grange-facts-"));
  const repository = await sampleRepository({ "below/file": "x", ...files });
  const git = await openGit(join(dataDirectory, "git"));
  const digests = await openKnownDigests(dataDirectory);
  onTestFinished(async () => {
    await git.stop();
    await repository.remove();
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const read = (variables?: Record<string, string>) =>
    readFacts(
      { git, digests },
      {
        type: "build-started",
        command: "make",
        directory: join(repository.path, "below"),
        ...(variables === undefined ? {} : { variables }),
      },
    );
  return Object.assign(read, { repository });
}

test("in a subdirectory, the repository's settings apply, and the build's own variables determine its environment", async () => {
  const read = await scene({
    [settings]: "project: team/web\nenvironment: {tools: [], variables: [CFLAGS]}\n",
  });

  const [plain, fast, again] = [
    await read({}),
    await read({ CFLAGS: "-O2", OTHER: "1" }),
    await read({ CFLAGS: "-O2", OTHER: "2" }),
  ];

  expect(plain.project).toBe("team/web");
  expect(plain.commits).toHaveLength(1);
  expect(fast.environment).not.toBe(plain.environment);
  expect(again.environment).toBe(fast.environment);
});

test("unreadable settings are an error for a caller that sends its variables, and ignored for a build system", async () => {
  const read = await scene({ [settings]: "nonsense: [" });

  await expect(read({})).rejects.toThrow(settings);
  expect(await read()).toMatchObject({ project: "default" });
});

test("with a detached HEAD the branch comes from the CI's variables, and otherwise from the checkout", async () => {
  const read = await scene({});
  const { repository } = read;
  await repository.git("remote", "add", "origin", "https://example.org/team/web.git");
  const ofPull = { GITHUB_REPOSITORY: "team/web", GITHUB_REF: "refs/pull/12/merge" };
  const onBranch = await read(ofPull);

  await repository.git("checkout", "--quiet", "--detach");

  expect(onBranch.branch).toBe("main");
  expect((await read(ofPull)).branch).toBe("pull/12");
  expect((await read({})).branch).toBe("");
});
