import { messageOf } from "#core/fault.ts";
import { type SuitePattern, suitePattern } from "./suite-pattern.ts";
import type { Finding } from "./suite-problems.ts";

/** A finding about the value at a path. */
export function findingAt(path: readonly PropertyKey[], message: string): Finding {
  return { path, of: "value", message };
}

/**
 * Reports unknown words. Property names that every JavaScript object has are never found by
 * mistake.
 */
export function checkWords(
  path: readonly PropertyKey[],
  words: Readonly<Record<string, unknown>>,
): Finding[] {
  return Object.keys(words).flatMap((word) =>
    word in Object.prototype
      ? [{ path: [...path, word], of: "key", message: "cannot be a name; choose another" } as const]
      : [],
  );
}

/** Returns text such as `the metrics are a, b`. */
export function known(words: Readonly<Record<string, unknown>>, what: string): string {
  const names = Object.keys(words);
  if (names.length === 0) return `${what} are yet to be written`;
  const shown = names.slice(0, 20).join(", ");
  return `${what} are ${shown}${names.length > 20 ? ", …" : ""}`;
}

/** Returns the problem of a pattern, if it has one. */
export function checkPattern(
  path: readonly PropertyKey[],
  text: string,
  lacks: (pattern: SuitePattern) => string | undefined = () => undefined,
): Finding[] {
  try {
    const lack = lacks(suitePattern(text));
    return lack === undefined
      ? []
      : [findingAt(path, `the pattern ${JSON.stringify(text)} ${lack}`)];
  } catch (reason) {
    return [findingAt(path, messageOf(reason))];
  }
}
