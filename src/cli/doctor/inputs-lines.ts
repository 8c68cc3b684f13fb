import type { InputsTrace } from "#local-run/trace-inputs.ts";
import { printableLine } from "../terminal/printable-text.ts";

/** Further paths are only counted. */
const mostPaths = 40;
/** The number of last output lines of a failing job that are shown. */
const lastLines = 15;
const width = 100;

const noInputs =
  "It declares no inputs, so a change of any file runs it again. With the inputs below, only a change of these does.";

/** Returns the lines of `grange doctor --job`. */
export function inputsLines(trace: InputsTrace): string[] {
  const { declaresInputs, missing, listed, requested, unused, unusedNeeds, readFiles, end } = trace;
  const lacks = missing.length + listed.length + requested.length > 0;
  return [
    `Job "${trace.job}" read ${readFiles === 1 ? "1 file" : `${readFiles} files`} of the checkout.`,
    ...(end.succeeded
      ? []
      : [
          `It also failed with the whole checkout (${printableLine(end.message)}), so the files that it reads later are not known:`,
          ...tailOf(trace.log),
        ]),
    ...section("Read, but not declared:", missing),
    ...section(
      "Listed, but not declared (the job reads the names in a directory):",
      listed.map((directory) => (directory === "" ? "*" : `${directory}/*`)),
    ),
    ...section("Not declared, and the job fails without it:", requested),
    ...section("Declared, but not read:", unused),
    ...section("Jobs in `needs` whose outputs are not read:", unusedNeeds),
    ...(lacks ? [] : [declaresInputs ? "All files that it reads are declared." : noInputs]),
    ...confirmationLines(trace),
    ...(lacks || unused.length > 0 || !declaresInputs ? ["", ...inputsKey(trace.proposal)] : []),
  ];
}

function confirmationLines({ confirmation, end }: InputsTrace): string[] {
  const whole = end.exitCode === undefined ? "" : ` (exit code ${end.exitCode})`;
  switch (confirmation.kind) {
    case "not-asked-for":
      return [
        "Not confirmed by a second run: files whose existence the job only checks may be missing here.",
      ];
    case "same":
      return [
        `Confirmed: with these inputs it ends in the same way as with the whole checkout${whole}.`,
      ];
    case "different":
      return [
        `NOT confirmed: with these inputs it ends in another way (${printableLine(confirmation.end.message || "it succeeds")}):`,
        ...tailOf(confirmation.log),
      ];
  }
}

function section(head: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const left = paths.length - mostPaths;
  return [
    head,
    ...paths.slice(0, mostPaths).map((path) => `  ${printableLine(path)}`),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}

/** Returns the corrected key as in `.grange/*.yml`; wrapped if it is long. */
export function inputsKey(patterns: readonly string[]): string[] {
  const written = patterns.map(yamlText);
  const one = `inputs: [${written.join(", ")}]`;
  if (one.length <= width) return [one];
  return ["inputs:", ...written.map((pattern) => `  - ${pattern}`)];
}

function yamlText(text: string): string {
  return /^[A-Za-z0-9._/][A-Za-z0-9._/@+-]*$/.test(text) ? text : JSON.stringify(text);
}

function tailOf(log: string): string[] {
  const lines = log.trimEnd().split("\n");
  return lines.slice(-lastLines).map((line) => `  | ${printableLine(line)}`);
}
