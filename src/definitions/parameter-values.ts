import type { Parameter, parameterTypes } from "./definition-file.ts";
import { suggestion } from "./nearest-name.ts";

/** A problem of a parameter: in its declaration (of the file) or in its value (of the submitter). */
interface ParameterProblem {
  readonly name: string;
  readonly isDeclarationWrong: boolean;
  readonly message: string;
}

/** Every declared parameter with its value: the given one, or else its default. */
export function parameterValues(
  declared: ReadonlyMap<string, { readonly declaration: Parameter }>,
  given: Readonly<Record<string, unknown>>,
): { readonly values: Record<string, unknown>; readonly problems: ParameterProblem[] } {
  const values: Record<string, unknown> = {};
  const problems: ParameterProblem[] = [];
  for (const [name, { declaration }] of declared) {
    const type = declaration.type ?? "string";
    if (declaration.default !== undefined && typeOf(declaration.default) !== type) {
      problems.push({
        name,
        isDeclarationWrong: true,
        message: `the default of parameter "${name}" must be of type ${type}`,
      });
    }
    const value = Object.hasOwn(given, name) ? given[name] : declaration.default;
    if (value === undefined) {
      problems.push({
        name,
        isDeclarationWrong: true,
        message: `parameter "${name}" has no default: give it a value`,
      });
    } else if (typeOf(value) !== type && Object.hasOwn(given, name)) {
      problems.push({
        name,
        isDeclarationWrong: false,
        message: `parameter "${name}" must be of type ${type}`,
      });
    }
    values[name] = value;
  }
  for (const name of Object.keys(given)) {
    if (declared.has(name)) continue;
    const message = `the definitions have no parameter "${name}"${suggestion(name, declared.keys())}`;
    problems.push({ name, isDeclarationWrong: false, message });
  }
  return { values, problems };
}

function typeOf(value: unknown): (typeof parameterTypes)[number] | undefined {
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "string";
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  return typeof value === "object" && value !== null ? "map" : undefined;
}
