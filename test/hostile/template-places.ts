import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sampleRepository } from "../support/sample-repository.ts";
import { type Case, job, submit } from "./template-attempts.ts";

/** A repository address for which no Git is started. */
function noAddress(name: string, repository: string): Case {
  return {
    name,
    async run(farm) {
      const { status, said } = await submit(farm, { repository });
      assert.equal(status, 400, said);
      const made = await readdir(farm.dataDir);
      assert.equal(made.includes("pwned"), false);
    },
  };
}

const noRevision = (name: string, rev: string): Case => ({
  name,
  async run(farm) {
    const { status } = await submit(farm, { rev });
    assert([400, 404].includes(status), String(status));
  },
});

export const places: readonly Case[] = [
  noAddress("a remote helper that runs a program", "ext::sh -c 'touch pwned'"),
  noAddress("a remote helper by another name", "fd::17"),
  noAddress("an address that is an option", "--upload-pack=touch pwned"),
  noAddress("a host that is an option of ssh", "ssh://-oProxyCommand=touch${IFS}pwned/x"),
  noAddress("a host that is an option, in short", "-oProxyCommand=touch:x"),
  noAddress("a path that is an option, in short", "git@example.org:--upload-pack=touch"),
  noAddress("a scheme that Git does not need", "ftp://example.org/x"),
  noAddress("a line break in an address", "https://example.org/x\nhost: evil"),
  noRevision("a revision that is an option", "--output=/tmp/pwned"),
  noRevision("a revision that is a path in a commit", "HEAD:.grange/farm.yml"),
  noRevision("a range of revisions", "main..HEAD"),
  noRevision("a revision that searches all messages", ":/Begin"),
  noRevision("a reflog entry of somebody", "HEAD@{1.year.ago}"),
  noRevision("a ref in a format of Git's", "refs/heads/*"),
  {
    name: "a submodule whose address is a file of the server is not fetched",
    async run(farm) {
      const { repository } = farm;
      await repository.commit({
        ".gitmodules":
          '[submodule "x"]\n\tpath = x\n\turl = file:///etc\n\tupdate = !touch pwned\n',
      });
      const answer = await submit(farm, { definitions: { "x.yml": job("inputs: ['**']") } });
      assert.equal(answer.status, 201, answer.text);
      const { repository: other } = farm;
      assert.equal((await readdir(other.path)).includes("pwned"), false);
    },
  },
  {
    name: "a repository whose own settings run programs runs none",
    async run(farm) {
      const repository = await sampleRepository({ ".grange/farm.yml": job("inputs: []") });
      try {
        const flag = join(repository.path, "ran");
        for (const [key, value] of [
          ["core.fsmonitor", `touch ${flag}`],
          ["core.sshCommand", `touch ${flag}`],
          ["uploadpack.packObjectsHook", `touch ${flag}`],
          ["core.pager", `touch ${flag}`],
        ] as const)
          await repository.git("config", key, value);
        const { status, text } = await submit(farm, { repository: repository.path });
        assert.equal(status, 201, text);
        assert.equal((await readdir(repository.path)).includes("ran"), false);
      } finally {
        await repository.remove();
      }
    },
  },
];
