import assert from "node:assert/strict";
import { rest } from "#core/resting.ts";
import type { HostileCase } from "./case.ts";
import {
  aFork,
  answered,
  aPull,
  type CommentFarm,
  cameTo,
  isApproved,
  seen,
} from "./comment-farm.ts";

/** The comment or the commit changes before the farm reads it. */
export const commentRaces: readonly HostileCase<CommentFarm>[] = [
  {
    name: "a comment that was edited into a command",
    async run(target) {
      const pull = await aFork(target);
      await seen(target, pull);
      const comment = await target.repository.comment(pull, "octocat", "looks good");
      // GitHub's times are whole seconds: an edit in the same second cannot be detected.
      await rest(1_100);
      await target.repository.editComment(comment, "@grange approve", "mallory");
      const came = await answered(target, pull, comment);
      assert.deepEqual(came, { reaction: "confused", reply: undefined });
      assert.equal(await isApproved(target, pull), false);
    },
  },
  {
    name: "a command that was edited into another after it was carried out",
    async run(target) {
      const pull = await aFork(target);
      await seen(target, pull);
      const comment = await target.repository.comment(pull, "octocat", "@grange help");
      const first = await answered(target, pull, comment, { hasReply: true });
      await target.repository.editComment(comment, "@grange approve", "octocat");
      const heard = await target.repository.comment(pull, "octocat", "@grange help");
      await answered(target, pull, heard);
      assert.deepEqual(cameTo(target, pull, comment), first);
      assert.equal(await isApproved(target, pull), false);
    },
  },
  {
    name: "an approval, and then a push by force",
    async run(target) {
      const pull = await aFork(target);
      const { head } = await seen(target, pull);
      const comment = await target.repository.comment(pull, "octocat", `@grange approve ${head}`);
      assert.equal((await answered(target, pull, comment)).reaction, "+1");
      assert.equal(await isApproved(target, pull), true);
      await target.repository.movePull(pull, { evil: "yes\n" }, { force: true, by: "mallory" });
      await seen(target, pull);
      assert.equal(await isApproved(target, pull), false);
      const bench = await target.repository.comment(pull, "octocat", "@grange bench");
      assert.match(
        (await answered(target, pull, bench, { hasReply: true })).reply ?? "",
        /it is measured only after/,
      );
    },
  },
  {
    name: "a push between looking and approving of what was looked at",
    async run(target) {
      const pull = await aFork(target);
      const { head } = await seen(target, pull);
      await target.repository.movePull(pull, { evil: "yes\n" }, { by: "mallory" });
      const line = `@grange approve ${head}`;
      const comment = await target.repository.comment(pull, "octocat", line);
      assert.equal((await answered(target, pull, comment)).reaction, "-1");
      assert.equal(await isApproved(target, pull), false);
    },
  },
  {
    name: "a command on a pull request that is closed",
    async run(target) {
      const pull = await aPull(target);
      await seen(target, pull);
      await target.repository.closePull(pull);
      const comment = await target.repository.comment(pull, "octocat", "@grange bench");
      const { reply } = await answered(target, pull, comment, { hasReply: true });
      assert.match(reply ?? "", /is closed/);
    },
  },
];
