import type { SwitchValue, SwitchValues } from "#api/graph-choice.ts";
import type { Switch } from "./definition-file.ts";
import { suggestion } from "./nearest-name.ts";

interface SwitchProblem {
  readonly name: string;
  readonly message: string;
}

/** Returns the default; a switch has texts as values when its default is a text. */
export function defaultValueOf(declaration: Switch): SwitchValue {
  return declaration.default ?? false;
}

/**
 * Reads values for switches; an unknown switch, or a value of the wrong kind, is a problem.
 *
 * `on` and `off` are for people at a prompt, where everything is a text.
 */
export function readSwitchValues(
  declared: ReadonlyMap<string, Switch>,
  given: SwitchValues,
): { readonly values: SwitchValues; readonly problems: SwitchProblem[] } {
  const values: Record<string, SwitchValue> = {};
  const problems: SwitchProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const declaration = declared.get(name);
    if (declaration === undefined) {
      const known = [...declared.keys()];
      const hint =
        suggestion(name, known) ||
        (known.length === 0 ? "; they have none" : `; there are ${known.slice(0, 20).join(", ")}`);
      problems.push({ name, message: `the definitions have no switch "${name}"${hint}` });
      continue;
    }
    const isOfTexts = typeof defaultValueOf(declaration) === "string";
    const read = isOfTexts ? value : onOrOff(value);
    if (typeof read !== (isOfTexts ? "string" : "boolean")) {
      const wanted = isOfTexts ? "a text" : "on or off";
      problems.push({ name, message: `switch "${name}" must be ${wanted}` });
    } else {
      values[name] = read;
    }
  }
  return { values, problems };
}

function onOrOff(value: SwitchValue): SwitchValue {
  if (value === "on" || value === "true") return true;
  if (value === "off" || value === "false") return false;
  return value;
}
