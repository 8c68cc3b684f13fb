import { RE2JS } from "re2js";
import { compilePattern, patternFlags } from "#core/line-patterns/compiled-pattern.ts";

/**
 * A pattern of a suite for versions, tags or lines. It uses RE2, because definitions are untrusted until they are
 * parsed.
 */
export interface SuitePattern {
  readonly groups: number;
  /** The names of its groups. */
  readonly names: readonly string[];
  /** Undefined when the text does not match; otherwise the values of its named groups. */
  match(text: string): Readonly<Record<string, string>> | undefined;
}

/** Throws `invalid_argument` with a sentence for people. */
export function suitePattern(text: string): SuitePattern {
  const { source, groups } = compilePattern(text);
  const compiled = RE2JS.compile(source, patternFlags);
  const names = Object.keys(compiled.namedGroups());
  return {
    groups,
    names,
    match(given) {
      const matcher = compiled.matcher(given);
      if (!matcher.find()) return undefined;
      return Object.fromEntries(names.map((name) => [name, matcher.group(name) ?? ""]));
    },
  };
}
