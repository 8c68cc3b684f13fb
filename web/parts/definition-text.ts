/** Formats a definition like YAML, for reading only. */
export function definitionText(value: unknown, indent = ""): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return value.map((item) => `${indent}- ${inner(item, indent)}`).join("\n");
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    if (entries.length === 0) return "{}";
    return entries.map(([key, each]) => `${indent}${key}:${below(each, indent)}`).join("\n");
  }
  return scalar(value);
}

/** After a dash: the first line is next to it. */
function inner(value: unknown, indent: string): string {
  return definitionText(value, `${indent}  `).trimStart();
}

/** After a colon: scalars next to it, other values below it. */
function below(value: unknown, indent: string): string {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    return `\n${definitionText(value, `${indent}  `)}`;
  }
  if (typeof value === "string" && value.includes("\n")) {
    return ` |\n${value
      .trimEnd()
      .split("\n")
      .map((line) => `${indent}  ${line}`)
      .join("\n")}`;
  }
  return ` ${definitionText(value)}`;
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return String(value);
  return /^[\w./$-][\w ./:@$*=+-]*$/.test(value) && !value.includes(": ")
    ? value
    : JSON.stringify(value);
}
