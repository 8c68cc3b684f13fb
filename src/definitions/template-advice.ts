import { suggestion } from "./nearest-name.ts";

/** The names that expressions can use, for advice after a wrong name. */
interface NamesInExpressions {
  readonly parameters: readonly string[];
  readonly switches: readonly string[];
}

/** The fields of `commit` in expressions. */
const ofCommit = ["sha", "subject", "author"];

/** Returns advice for common mistakes in place of json-e's messages, which are written for its authors. */
export function templateAdvice(message: string, names: NamesInExpressions): string {
  const unknown = /unknown context value (\S+)/.exec(message)?.[1];
  if (unknown !== undefined) {
    return `template: there is no value "${unknown}" here (there are parameters, switches, repository, commit, branch, rev); for a variable of the shell write $${unknown} or $\${...} with two dollar signs`;
  }
  const beside = /(\$[a-z]+)\S* has undefined properties: (\S+)/i.exec(message);
  if (beside !== null) {
    const [, construct, key] = beside;
    const way =
      construct === "$merge" ? "into a map of its list" : "away, and join the two with $merge";
    return `template: "${key}" cannot be in the same map as ${construct}; move it ${way}`;
  }
  const absent = /object has no property "?([A-Za-z0-9_]+)"?/.exec(message)?.[1];
  if (absent !== undefined) {
    const hint = suggestion(absent, [...names.switches, ...names.parameters, ...ofCommit]);
    // json-e does not report the value.
    const way =
      hint === ""
        ? `; "commit" has ${ofCommit.join(", ")}, and nothing else; values of "switches" and "parameters" are declared there`
        : hint;
    return `template: nothing declares "${absent}"${way}`;
  }
  return `template: ${message}`;
}
