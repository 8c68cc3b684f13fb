import type { Reaction } from "../forge.ts";
import type { NeededPermission } from "../forge-policy.ts";
import { sentenceAsMarkdown } from "../reports/foreign-text.ts";
import { type CommandKind, usage } from "./command.ts";

/** The answer to a comment that contains a command. */
export interface Answer {
  readonly state: "done" | "refused";
  readonly reaction: Reaction;
  /** Markdown; undefined: the reaction is sufficient. */
  readonly text: string | undefined;
  /** Whether the report makes the text superfluous. */
  readonly isUntilReport?: boolean;
}

/** The text consists only of the farm's own words. */
export function refusal(text: string): Answer {
  return { state: "refused", reaction: "-1", text };
}

export const refusalWithoutReply: Answer = { state: "refused", reaction: "-1", text: undefined };

export const replies = {
  wrong(problem: string, name: string): Answer {
    return {
      state: "refused",
      reaction: "confused",
      text: `The command was not understood: ${foreign(problem)}. \`@${name} help\` lists the commands.`,
    };
  },

  help(name: string): Answer {
    return {
      state: "done",
      reaction: "+1",
      text: [
        "Write one command in each comment, at the beginning of a line. Quotes, code and edits do not count.",
        "",
        "```text",
        ...usage(name),
        "```",
        "",
        "`bench` measures the head of this pull request; with `queue` as soon as its artifacts exist. `build` measures a commit that was built already. `retrigger` runs jobs again: those of a selection such as `platform:linux & test`, or the failed ones. `cancel` ends everything that runs for this pull request. `approve` allows the farm to run and measure the current head of a fork.",
      ].join("\n"),
    };
  },

  notAllowed(kind: CommandKind, needs: NeededPermission | undefined): Answer {
    return refusal(
      needs === undefined || needs === "nobody"
        ? `\`${kind}\` needs a right on the farm.`
        : `\`${kind}\` needs the permission \`${needs}\` in this repository, or a right on the farm.`,
    );
  },

  edited: {
    state: "refused",
    reaction: "confused",
    // Any user may edit, so a reaction is enough. `help` explains that edits do not count.
    text: undefined,
  } satisfies Answer,

  broken: {
    state: "refused",
    reaction: "confused",
    text: "An error occurred on the farm; its log contains the details. Try again later.",
  } satisfies Answer,

  /** A sentence of the farm that may contain foreign words. */
  failed(sentence: string): Answer {
    return {
      state: "refused",
      reaction: "confused",
      text: `The command failed: ${foreign(sentence)}.`,
    };
  },
} as const;

/** Removes the full stop, because one follows anyway. */
function foreign(sentence: string): string {
  return sentenceAsMarkdown(sentence.replace(/[.\s]+$/, ""));
}
