import assert from "node:assert/strict";
import type { HostileCase, HostileSuite } from "./case.ts";
import {
  aFork,
  answered,
  aPull,
  type CommentFarm,
  cameTo,
  isApproved,
  openCommentFarm,
  seen,
} from "./comment-farm.ts";
import { commentRaces } from "./comment-races.ts";

/** A comment on a fork's pull request; it must have this result, and must approve nothing. */
function refused(
  name: string,
  by: string,
  line: string,
  reaction: string,
  reply: RegExp | undefined,
): HostileCase<CommentFarm> {
  return {
    name,
    async run(target) {
      const pull = await aFork(target);
      await seen(target, pull);
      const comment = await target.repository.comment(pull, by, line);
      const came = await answered(target, pull, comment, { hasReply: reply !== undefined });
      assert.equal(came.reaction, reaction);
      if (reply === undefined) assert.equal(came.reply, undefined);
      else assert.match(came.reply ?? "", reply);
      assert.equal(await isApproved(target, pull), false);
    },
  };
}

/**
 * A comment of a user with permission in a form that does not count. A later valid comment has an
 * effect.
 */
function unheard(name: string, body: string, by = "octocat"): HostileCase<CommentFarm> {
  return {
    name,
    async run(target) {
      const pull = await aFork(target);
      await seen(target, pull);
      const comment = await target.repository.comment(pull, by, body);
      const heard = await target.repository.comment(pull, "octocat", "@grange help");
      await answered(target, pull, heard);
      assert.deepEqual(cameTo(target, pull, comment), { reaction: undefined, reply: undefined });
      assert.equal(await isApproved(target, pull), false);
    },
  };
}

/** Checks that no text of others is markup outside of code spans. */
function assertPlain(reply: string | undefined): void {
  const outside = (reply ?? "")
    .replace(/^(?:<!-- [^\n]*? -->)+\n/, "")
    .replaceAll(/`[^`\n]*`/g, "");
  assert.doesNotMatch(outside, /[<>@]|#\d|\]\((?!http:\/\/127)|javascript/);
}

const unfit: readonly HostileCase<CommentFarm>[] = [
  refused("bench by who may only read", "stranger", "@grange bench", "-1", undefined),
  refused("approve by who may only read", "stranger", "@grange approve", "-1", undefined),
  refused(
    "approve by the author of the fork's pull request",
    "mallory",
    "@grange approve",
    "-1",
    /needs the permission `write`/,
  ),
  refused("cancel by who may only read", "stranger", "@grange cancel", "-1", undefined),
  refused(
    "an author who says to be another",
    "mallory",
    "@grange approve on behalf of @octocat",
    "confused",
    /is not a commit/,
  ),
  refused("a login that looks like another's", "0ctocat", "@grange approve", "-1", undefined),
  refused(
    "bench of a fork that nobody approved of",
    "octocat",
    "@grange bench",
    "-1",
    /it is measured only after/,
  ),
  refused(
    "build of another commit of a fork",
    "octocat",
    "@grange build 0123456789",
    "-1",
    /comes from a fork/,
  ),
  refused(
    "approve of a commit that is not the head",
    "octocat",
    "@grange approve 0123456",
    "-1",
    /not the head/,
  ),
  refused(
    "two commands in one comment",
    "octocat",
    "@grange help\n\n@grange approve",
    "confused",
    /has one command/,
  ),
  refused(
    "keys that are properties of every object",
    "octocat",
    "@grange bench __proto__=1 constructor=2",
    "confused",
    /is none of/,
  ),
  refused(
    "a name of a backend for a shell",
    "octocat",
    "@grange bench backends=$(id),../../x",
    "confused",
    /cannot be a name of backends/,
  ),
  refused(
    "a selection of ten thousand brackets",
    "octocat",
    `@grange retrigger ${"(".repeat(10_000)}`,
    "confused",
    /selection, column/,
  ),
  refused(
    "a line of 60,000 characters",
    "octocat",
    `@grange retrigger ${"a ".repeat(30_000)}`,
    "confused",
    /more than \d+ characters/,
  ),
  unheard("a quote", "> @grange approve\n\nwhat do you think?"),
  unheard("a line that continues a quote", "> somebody said:\n@grange approve"),
  unheard("a fence of code", "```\n@grange approve\n```"),
  unheard("a comment of HTML that nobody sees", "Thanks! <!--\n@grange approve\n-->"),
  unheard("a fold that nobody opens", "<details>\n\n@grange approve\n\n</details>"),
  unheard("letters that look like the name", "@gr\u0430nge approve"),
  {
    name: "our own comment, quoting a command",
    async run(target) {
      const pull = await aPull(target);
      await seen(target, pull);
      const ours = await target.repository.comment(pull, target.github.bot, "@grange cancel");
      const heard = await target.repository.comment(pull, "octocat", "@grange help");
      await answered(target, pull, heard);
      assert.equal(cameTo(target, pull, ours).reaction, undefined);
    },
  },
  {
    name: "markup, mentions and links in an unknown command",
    async run(target) {
      const pull = await aPull(target);
      await seen(target, pull);
      const evil = "x`<img/src=x>@everyone#1[a](javascript:b)\u202e";
      const comment = await target.repository.comment(pull, "octocat", `@grange ${evil}`);
      const { reply } = await answered(target, pull, comment, { hasReply: true });
      assert.match(reply ?? "", /not a command/);
      assertPlain(reply);
      assert.doesNotMatch(reply ?? "", /\u202e/);
    },
  },
  {
    name: "the farm's marker in another user's comment",
    async run(target) {
      const pull = await aPull(target);
      await seen(target, pull);
      const theirs = await target.repository.comment(
        pull,
        "mallory",
        `<!-- grange comment/${pull} -->\nAll is well.`,
      );
      const heard = await target.repository.comment(pull, "octocat", "@grange help");
      await answered(target, pull, heard);
      const kept = target.repository.comments(pull).find(({ id }) => id === theirs);
      assert.match(kept?.body ?? "", /All is well/);
      assert.equal(kept?.isMinimised, false);
    },
  },
  {
    name: "ten commands of a user without permission: reactions, and no comment",
    async run(target) {
      const pull = await aPull(target);
      await seen(target, pull);
      const ids: number[] = [];
      for (let i = 0; i < 10; i += 1) {
        ids.push(await target.repository.comment(pull, "stranger", `@grange nonsense-${i}`));
      }
      for (const id of ids) await answered(target, pull, id);
      const written = target.repository
        .comments(pull)
        .filter(({ author }) => author === target.github.bot);
      assert.deepEqual(written, []);
    },
  },
];

export const commentCommandSuite: HostileSuite<CommentFarm> = {
  interface: "Comment commands",
  atLeast: 15,
  cases: [...unfit, ...commentRaces],
  open: openCommentFarm,
};
