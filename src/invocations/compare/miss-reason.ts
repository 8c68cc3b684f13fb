import type { ActionDifferences, CommandDifference } from "#api/action-comparison.ts";
import type { InvocationMiss } from "#api/invocation-misses.ts";

type Why = Pick<InvocationMiss, "reason" | "sentence" | "paths">;

const mostPaths = 5;

/**
 * Returns why an action was not found in the cache, from what differs from the last action that made the same outputs.
 *
 * @param outcome how the earlier action ended
 * @param doNotCache whether the action forbids that its result is kept
 */
export function missReason(
  differences: ActionDifferences,
  outcome: string | null,
  doNotCache = false,
): Why {
  const { command, inputs, isCut, isSameAction, unreadable } = differences;
  if (isSameAction) {
    if (doNotCache)
      return why(
        "not cacheable",
        "The same action was executed before, and it forbids caching: its result is never kept.",
      );
    return outcome === "succeeded"
      ? why(
          "not kept",
          "The same action succeeded before: its result was removed, was not requested from the cache, or belongs to another trust domain.",
        )
      : why(
          "failed before",
          "The same action failed before, and results of failures are not kept.",
        );
  }
  const paths = inputs.slice(0, mostPaths).map(({ path }) => path);
  const files = `${inputs.length.toLocaleString("en")}${isCut ? " or more" : ""} input ${inputs.length === 1 ? "file differs" : "files differ"}`;
  if (inputs.length > 0 && command.length > 0)
    return { ...why("inputs and command", `${files}, and ${partsOf(command)}.`), paths };
  if (inputs.length > 0) return { ...why("inputs", `${files}.`), paths };
  if (command.length > 0) return why("command", `${capital(partsOf(command))}.`);
  return why(
    "unknown",
    unreadable ?? "The actions differ only in what is not shown, such as values of secrets.",
  );
}

/** Returns the parts of a command that differ, with their names: `argument 3 and variable LANG differ`. */
function partsOf(command: readonly CommandDifference[]): string {
  const names = command.slice(0, 3).map(({ part, name }) => {
    switch (part) {
      case "argument":
        return `argument ${name}`;
      case "environment":
        return `variable ${name}`;
      case "platform":
        return `platform property ${name}`;
      case "working directory":
        return "the working directory";
      case "setting":
        return settingText[name] ?? `the setting ${name}`;
    }
  });
  const more = command.length - names.length;
  const all = more === 0 ? names : [...names, `${more} more`];
  const last = all.at(-1) ?? "";
  return all.length === 1 ? `${last} differs` : `${all.slice(0, -1).join(", ")} and ${last} differ`;
}

/** The settings of an action, as a sentence names them. */
const settingText: Readonly<Record<string, string>> = {
  timeout: "the timeout",
  "do not cache": "the permission to cache",
  salt: "the salt",
  outputs: "the list of outputs",
};

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function why(reason: InvocationMiss["reason"], sentence: string): Why {
  return { reason, sentence, paths: [] };
}
