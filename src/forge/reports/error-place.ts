/** The place of an error in the commit's files, from a tool's line. Lines count from 1. */
interface ErrorPlace {
  readonly path: string;
  readonly line: number;
}

/** `src/a.ts:12:5 …`, `src/a.ts(12,5): …`, `--> src/a.rs:12:5`, `File "a.py", line 12`. */
const numbered = /:(\d{1,7})\b|\((\d{1,7})[,)]|", line (\d{1,7})\b/g;

/** A path below the commit's root, in unambiguous characters. */
const relative = /^(?:[A-Za-z0-9_@+.-]{1,100}\/){0,30}[A-Za-z0-9_@+.-]{1,100}$/;

/** Undefined when the line names no place, or one outside the commit. */
export function errorPlace(text: string): ErrorPlace | undefined {
  for (const match of text.slice(0, 500).matchAll(numbered)) {
    const line = Number(match[1] ?? match[2] ?? match[3]);
    const word = /[^\s"'(]{1,1000}$/.exec(text.slice(0, match.index))?.[0] ?? "";
    const path = word.replace(/^\.\//, "");
    if (line >= 1 && isWithin(path)) return { path, line };
  }
  return undefined;
}

function isWithin(path: string): boolean {
  // `12:30:05` is a time, and `localhost:80` a host; a file has an extension or is in a folder.
  if (!relative.test(path) || !/[A-Za-z]/.test(path) || !/[./]/.test(path)) return false;
  return !path.split("/").some((part) => part === "." || part === "..");
}
