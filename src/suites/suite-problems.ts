import { Fault } from "#core/fault.ts";
import { suiteLimits } from "./suite-limits.ts";

/** An invalid part of a definition, and how to correct it. */
export interface Finding {
  readonly path: readonly PropertyKey[];
  /** For a map's entry: whether its name or its value is wrong. */
  readonly of: "key" | "value";
  readonly message: string;
}

export interface SuiteProblem extends Finding {
  /** Both count from 1; null when the definition is not a file. */
  readonly line: number | null;
  readonly column: number | null;
}

/** A definition that cannot be used, with all the reasons found. */
export class SuiteProblems extends Fault {
  readonly where: string;
  readonly problems: readonly SuiteProblem[];

  constructor(where: string, problems: readonly SuiteProblem[]) {
    const most = suiteLimits.problems;
    const lines = problems.slice(0, most).map((problem) => problemLine(where, problem));
    const more = problems.length > most ? [`and ${problems.length - most} more`] : [];
    super("invalid_argument", [...lines, ...more].join("\n"));
    this.where = where;
    this.problems = problems;
  }
}

/** `FILE:LINE:COLUMN: PART: PROBLEM`, a form that editors and terminals make clickable. */
function problemLine(where: string, { line, column, path, message }: SuiteProblem): string {
  const place = [where, line, column].filter((part) => part !== null).join(":");
  const part = pathText(path);
  return `${place}: ${part === "" ? "" : `${part}: `}${message}`;
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      // A name that could be read as two parts, or that contains control characters, is quoted.
      const name = /^[A-Za-z0-9@_/-]{1,80}$/.test(String(part))
        ? String(part)
        : JSON.stringify(String(part).slice(0, 80));
      return index === 0 ? name : `.${name}`;
    })
    .join("");
}
